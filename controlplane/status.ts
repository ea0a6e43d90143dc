import { KNOWN_TYPES, messageName } from '#protos/type-url.ts';
import type { Problem } from '#resources/problem.ts';
import type { Source } from '#resources/resource.ts';
import type { StreamStatus } from '#xds/discovery-observer.ts';
import type { Controller } from './controller.ts';
import { systemProblem } from './problems.ts';
import { effective } from './rollout.ts';
import { unknownGroupProblems } from './unknown-groups.ts';

/**
 * Where a resource stands. `accepted`: every proxy that is there took it; `trying`: served, not yet answered by the proxies;
 * `last good`: an older version is in force, for the written one has an error; `refused`: by the proxies, see its Problem.
 */
export type ResourceState = 'accepted' | 'trying' | 'last good' | 'refused';

export type ResourceStatus = Source & { readonly id: string; readonly state: ResourceState };

export type ProxyStatus = {
  readonly node: string;
  readonly group: string;
  readonly address: string;
  /** How it stands to what its group is served now. */
  readonly standing: StreamStatus['standing'];
  readonly types: readonly {
    /** Short name such as `Cluster`. */
    readonly type: string;
    readonly sent?: string;
    readonly acked?: string;
    /** What it said when it refused the newest. */
    readonly nack?: string;
    /** When it last answered, ISO 8601. */
    readonly at?: string;
  }[];
};

/** The answer of `/status`. */
export type Status = {
  readonly ready: boolean;
  readonly reason?: string;
  readonly resources: readonly ResourceStatus[];
  readonly problems: readonly Problem[];
  readonly proxies: readonly ProxyStatus[];
};

/** All Problems: those of the parser and the state folder (`known`), the compiler's, and what the proxies refuse. */
export function allProblems(
  controller: Controller,
  known: readonly Problem[],
  streams: readonly StreamStatus[],
): readonly Problem[] {
  const isServing = controller.readiness() === undefined;
  const unknown = isServing ? unknownGroupProblems(streams, controller.groups) : [];
  return [...known, ...controller.problems(), ...unknown, ...streams.flatMap(refusals)];
}

/** All that an operator may ask of a running control plane. */
export function toStatus(
  controller: Controller,
  known: readonly Problem[],
  streams: readonly StreamStatus[],
): Status {
  const reason = controller.readiness();
  return {
    ready: reason === undefined,
    ...(reason === undefined ? {} : { reason }),
    resources: resourceStates(controller),
    problems: allProblems(controller, known, streams),
    proxies: streams.map(toProxyStatus),
  };
}

function resourceStates({ rollout, kept }: Controller): ResourceStatus[] {
  const served = effective(rollout);
  const all = new Map([...served, ...rollout.wanted]);
  return [...all.values()]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, source }) => ({ id, ...source, state: stateOf(id) }));

  function stateOf(id: string): ResourceState {
    if (rollout.quarantined.has(id)) return rollout.accepted.has(id) ? 'last good' : 'refused';
    if (kept.has(id)) return 'last good';
    const accepted = rollout.accepted.get(id)?.hash;
    return accepted !== undefined && accepted === served.get(id)?.hash ? 'accepted' : 'trying';
  }
}

/** What a proxy refuses now, although no resource is to blame for it, for example because its port is taken. */
function refusals({ node, types }: StreamStatus): Problem[] {
  return Object.entries(types).flatMap(([typeUrl, { nack }]) =>
    nack === undefined
      ? []
      : [systemProblem('Envoy', node, `refuses its ${shortTypeName(typeUrl)}: ${nack.message}`)],
  );
}

function toProxyStatus({ node, group, address, standing, types }: StreamStatus): ProxyStatus {
  const each = Object.entries(types).map(([typeUrl, { sent, acked, nack, at }]) => ({
    type: shortTypeName(typeUrl),
    ...(sent === undefined ? {} : { sent }),
    ...(acked === undefined ? {} : { acked }),
    ...(nack === undefined ? {} : { nack: nack.message }),
    ...(at === undefined ? {} : { at: new Date(at).toISOString() }),
  }));
  return { node, group, address, standing, types: each };
}

/** `Cluster` of `type.googleapis.com/envoy.config.cluster.v3.Cluster`. */
export function shortTypeName(typeUrl: string): string {
  const name = messageName(typeUrl);
  return name.slice(name.lastIndexOf('.') + 1);
}

/** The short name as a metric's label. What strangers name is one label, or they could make any number. */
export function typeLabel(typeUrl: string): string {
  return KNOWN_TYPES.has(typeUrl) ? shortTypeName(typeUrl) : 'other';
}
