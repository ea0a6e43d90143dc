import type { SampledRequest } from '#controlplane/figures/figures.ts';
import type { ServiceInstances } from '#controlplane/knowledge/knowledge.ts';
import type { Drained } from '#files/drained-store.ts';

/** An instance that the discovery service knows, or that sampled requests went to. */
export type InstanceRow = Drained & {
  /** Whether the discovery service gives it to proxies, so that it can be drained. */
  readonly discovered: boolean;
  /** What its source says. Absent when it is not discovered. */
  readonly healthy?: boolean;
  readonly drained: boolean;
  /** Sampled requests of 15 minutes, and those of them that failed. */
  readonly requests: number;
  readonly failed: number;
  /** Why the last one failed. */
  readonly failure?: string;
  /** When it was last asked, in ms since 1970. */
  readonly at?: number;
};

/** The rows that are shown, and how many there are. */
export type InstanceRows = { readonly rows: readonly InstanceRow[]; readonly total: number };

const MOST = 50;

/** Returns the instances of a service, also those that no request went to. */
export function instanceRows(
  requests: readonly SampledRequest[],
  known: readonly ServiceInstances[],
  drained: readonly Drained[],
): InstanceRows {
  const byUpstream = Map.groupBy(
    requests.filter(({ upstream }) => upstream !== ''),
    ({ upstream }) => upstream,
  );
  const discovered = new Map(
    known.flatMap(({ instances }) => instances.map(each => [nameOf(each), each] as const)),
  );
  const out = new Set(drained.map(nameOf));
  const names = [...new Set([...discovered.keys(), ...byUpstream.keys()])].sort();
  const rows = names.slice(0, MOST).map(name => {
    const found = discovered.get(name);
    return {
      ...addressOf(name),
      discovered: found !== undefined,
      ...(found && { healthy: found.healthy }),
      drained: out.has(name),
      ...outcomesOf(byUpstream.get(name) ?? []),
    };
  });
  return { rows, total: names.length };
}

function outcomesOf(sent: readonly SampledRequest[]) {
  const failed = sent.filter(
    ({ failure, status }) => status >= 500 || status === 0 || failure !== '',
  );
  const [last] = failed;
  return {
    ...{ requests: sent.length, failed: failed.length },
    ...(last && { failure: last.failure || last.details || `status ${last.status}` }),
    ...(sent[0] && { at: sent[0].at }),
  };
}

/** Returns `address:port`, as the proxies log it. */
export function nameOf({ address, port }: Drained): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

function addressOf(name: string): Drained {
  const [, host = '', port] = /^(.*):(\d+)$/.exec(name) ?? [];
  return { address: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}
