import type { FigureCoverage } from '#controlplane/figures/coverage.ts';
import type { Controller } from '#controlplane/rollout/controller.ts';
import { systemProblem } from '#controlplane/rollout/problems.ts';
import { effective } from '#controlplane/rollout/rollout.ts';
import { KNOWN_TYPES, messageName } from '#protos/type-url.ts';
import type { Problem } from '#resources/problem.ts';
import type { Rejected, Source } from '#resources/resource.ts';
import type { StreamStatus } from '#xds/discovery-observer.ts';
import { type CertificateStatus, certificates } from './certificates.ts';
import { lateProxyProblems } from './late-proxies.ts';
import { type ResourceState, resourceStates, unservedState } from './resource-state.ts';
import { unknownGroupProblems } from './unknown-groups.ts';

export type ResourceStatus = Source & { readonly id: string; readonly state: ResourceState };

export type ProxyStatus = {
  readonly node: string;
  readonly group: string;
  readonly address: string;
  /** Its state towards what its group is served now. */
  readonly standing: StreamStatus['standing'];
  readonly types: readonly {
    /** Short name such as `Cluster`. */
    readonly type: string;
    readonly sent?: string;
    readonly acked?: string;
    /** Its message when it rejected the newest version. */
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
  /** Those of Hosts and listeners, the one that ends first at the beginning. */
  readonly certificates: readonly CertificateStatus[];
  /** Whose figures this control plane has, and so which failing upstreams it sees. */
  readonly figures?: FigureCoverage | undefined;
};

/**
 * Returns all Problems: those of the parser and the state folder (`known`), the compiler's, and
 * what the proxies reject.
 */
export function allProblems(
  controller: Controller,
  known: readonly Problem[],
  streams: readonly StreamStatus[],
): readonly Problem[] {
  const isServing = controller.readiness() === undefined;
  const unknown = isServing ? unknownGroupProblems(streams, controller.groups) : [];
  const { groups } = controller;
  const configured = streams.filter(({ group }) => isServing && groups.has(group));
  const late = lateProxyProblems(configured, id => controller.isLate(id));
  return [...known, ...controller.problems(), ...unknown, ...late, ...streams.flatMap(refusals)];
}

/** Returns all that an operator may ask of a running control plane. */
export function toStatus(
  controller: Controller,
  known: readonly Problem[],
  streams: readonly StreamStatus[],
  outOfService: ReadonlySet<string>,
  gatewayController?: string,
): Status {
  const reason = controller.readiness();
  return {
    ready: reason === undefined,
    ...(reason === undefined ? {} : { reason }),
    resources: resourcesOf(controller, outOfService),
    problems: allProblems(controller, known, streams),
    proxies: streams.map(toProxyStatus),
    certificates: certificates(controller.inForce, gatewayController),
  };
}

function resourcesOf(controller: Controller, outOfService: ReadonlySet<string>): ResourceStatus[] {
  const { closed, kept, rollout } = controller;
  const all = new Map([...effective(rollout), ...rollout.wanted]);
  const stateOf = resourceStates({ rollout, kept, outOfService, compiled: controller.problems() });
  const known = [...all.values()].map(resource => ({
    ...placeOf(resource),
    state: stateOf(resource),
  }));
  // Of a rejected FilterPolicy a part may be closed beside its last good version.
  const rejected = closed
    .filter(({ id }) => !all.has(id))
    .map(resource => ({ ...placeOf(resource), state: unservedState(resource) }));
  return [...known, ...rejected].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function placeOf({
  id,
  source,
}: Pick<Rejected, 'id' | 'source'>): Source & { readonly id: string } {
  return { id, ...source };
}

/**
 * Returns Problems for what a proxy rejects now although no resource is to blame, for example
 * because its port is taken.
 */
function refusals({ node, types }: StreamStatus): Problem[] {
  return Object.entries(types).flatMap(([typeUrl, { nack }]) =>
    nack === undefined
      ? []
      : [systemProblem('Envoy', node, `rejects its ${shortTypeName(typeUrl)}: ${nack.message}`)],
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

/** Returns `Cluster` for `type.googleapis.com/envoy.config.cluster.v3.Cluster`. */
export function shortTypeName(typeUrl: string): string {
  const name = messageName(typeUrl);
  return name.slice(name.lastIndexOf('.') + 1);
}

/**
 * Returns the short name as a metric's label. All names of clients' choosing share one label, since
 * they could make any number.
 */
export function typeLabel(typeUrl: string): string {
  return KNOWN_TYPES.has(typeUrl) ? shortTypeName(typeUrl) : 'other';
}
