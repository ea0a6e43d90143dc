import type { SampledRequest } from '#controlplane/figures/figures.ts';
import type { Drained } from '#controlplane/orders/drained-store.ts';

/** An instance as the sampled requests show it, or one that is drained. */
export type InstanceRow = {
  readonly address: string;
  readonly port: number;
  readonly drained: boolean;
  /** Sampled requests of 15 minutes, and those of them that failed. */
  readonly requests: number;
  readonly failed: number;
  /** Why the last one failed. */
  readonly failure?: string;
  /** When it was last asked, in ms since 1970. */
  readonly at?: number;
};

const MOST = 50;

/** Returns the instances that requests went to, and all that are drained. */
export function instanceRows(
  requests: readonly SampledRequest[],
  drained: readonly Drained[],
): readonly InstanceRow[] {
  const byUpstream = Map.groupBy(
    requests.filter(({ upstream }) => upstream !== ''),
    ({ upstream }) => upstream,
  );
  const names = new Set([...byUpstream.keys(), ...drained.map(nameOf)]);
  const out = new Set(drained.map(nameOf));
  return [...names]
    .sort()
    .slice(0, MOST)
    .flatMap(name => {
      const [, host = '', port] = /^(.*):(\d+)$/.exec(name) ?? [];
      const sent = byUpstream.get(name) ?? [];
      const failed = sent.filter(
        ({ failure, status }) => status >= 500 || status === 0 || failure !== '',
      );
      const [last] = failed;
      return [
        {
          address: host.replace(/^\[(.*)\]$/, '$1'),
          port: Number(port),
          drained: out.has(name),
          requests: sent.length,
          failed: failed.length,
          ...(last === undefined
            ? {}
            : { failure: last.failure || last.details || `status ${last.status}` }),
          ...(sent[0] === undefined ? {} : { at: sent[0].at }),
        },
      ];
    });
}

function nameOf({ address, port }: Drained): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
