import { Memo } from '#controlplane/compile/memo.ts';
import type { NamedCondition } from '#controlplane/gateway-api/condition.ts';
import type {
  GatewayApiStatus,
  GatewayStatus,
  ListenerSetStatus,
  PolicyStatus,
  RouteStatus,
} from '#controlplane/gateway-api/gateway-api-status.ts';
import type { GatewayOptions } from '#controlplane/gateway-api/gateway-options.ts';
import type { GatewayApi } from '#controlplane/gateway-api/served-gateway.ts';
import { servedGateways } from '#controlplane/gateway-api/served-gateways.ts';
import { TARGETING_KINDS } from '#controlplane/gateway-api/targeting-statuses.ts';
import type { Written } from '#controlplane/rollout/candidates.ts';
import type { Rollout } from '#controlplane/rollout/rollout.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import type { Problem } from '#resources/problem.ts';
import { type Rejected, type Resource, resourceId } from '#resources/resource.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { withAnswer } from './awaited-answer.ts';
import { type BundleVersions, listsFeatures, supportedVersion } from './bundle-versions.ts';
import { reachable } from './conditions.ts';
import { secretFaults, withSecretFaults } from './gateway-certificates.ts';
import { gatewayObjectStatus } from './gateway-object-status.ts';
import type { GatewayProgress } from './gateway-programmed.ts';
import type { StatusWrite } from './status-writer.ts';
import { type Known, orphanedSet, unclassedGateway } from './unclassed-gateway.ts';

/** What is known of the proxies of Gateways, and of their addresses. */
export type GatewayStatusParts = {
  readonly options: GatewayOptions;
  /** Returns what the cluster gives a Gateway, by its id. */
  edgeOf(id: string): Omit<GatewayProgress, 'proxies'>;
  /** Returns the versions of the definitions of Gateway API, or undefined when it is unknown. */
  versions(): BundleVersions | undefined;
  /** Milliseconds since the epoch. */
  now(): number;
};

export type GatewayStatusState = {
  readonly rollout: Rollout;
  /** Objects with an error. */
  readonly written: Pick<Written, 'rejected'>;
  /** All Problems, among which are those of Secrets. */
  readonly problems: readonly Problem[];
  /** Groups of proxies of which one at least has ACKed what it is served, and none has not. */
  readonly settled: ReadonlySet<string>;
  /** The objects of Gateway API whose resources these are, as they are now. */
  readonly objects: readonly ServedObject[];
  /**
   * Whether another control plane writes the statuses. Then only the answers of our proxies are
   * added, to objects that await them.
   */
  readonly answersAlone?: boolean;
};

/**
 * Returns the function that tells which statuses of objects of Gateway API differ from what they
 * should be. It keeps what it has found out of objects that do not change.
 */
export function gatewayStatusWrites(
  parts: GatewayStatusParts,
): (state: GatewayStatusState) => readonly StatusWrite[] {
  const memo = new Memo();
  /** Objects of routes and policies that have this status. */
  const right = new WeakMap<ServedObject, GatewayApiStatus>();
  const apiOf = ({ wanted }: Rollout, { rejected }: Pick<Written, 'rejected'>) =>
    memo.of(wanted, 'Gateway API', [rejected], () => {
      const closed = [...rejected.values()].filter(({ id }) => !wanted.has(id));
      return servedGateways(toResourceSet(wanted.values(), closed), parts.options, memo);
    });
  return ({ rollout, written, problems, settled, objects, answersAlone = false }) => {
    const api = apiOf(rollout, written);
    const known = { has: (id: string) => rollout.wanted.has(id) || written.rejected.has(id) };
    const progressOf = progress(api, { rollout, settled }, parts);
    const { controller } = parts.options;
    const facts = { controller, progressOf, now: parts.now() };
    if (answersAlone)
      return objects.flatMap(object => {
        const [item] = object.parsed.resources;
        const status = item && withAnswer(object, progressOf(item.id), facts.now);
        return status === undefined ? [] : [{ object, status }];
      });
    const versions = parts.versions();
    const faults = secretFaults(problems);
    const byId = Map.groupBy(problems, ({ kind, name, namespace }) =>
      resourceId(kind, namespace, name),
    );
    return objects.flatMap(object => {
      const told = withVersion(statusOf(object, api, { rollout, known }), versions);
      const resolved = withSecretFaults(told, object, faults);
      const [item] = [...object.parsed.resources, ...object.parsed.rejected];
      const status = resolved && withUnreachable(resolved, byId.get(item?.id ?? ''));
      if (status === undefined || right.get(object) === status) return [];
      const next = gatewayObjectStatus(object, status, facts);
      if (next !== undefined) return [{ object, status: next }];
      if (status.kind === 'Route' || status.kind === 'Policy') right.set(object, status);
      return [];
    });
  };
}

/** Where nothing fails there is no such condition. */
function withUnreachable(
  status: GatewayApiStatus,
  problems: readonly Problem[] = [],
): GatewayApiStatus {
  const condition: NamedCondition = { type: 'Reachable', ...reachable(problems) };
  if (condition.status === 'True') return status;
  const add = <T extends { readonly conditions: readonly NamedCondition[] }>(each: T): T => ({
    ...each,
    conditions: [...each.conditions, condition],
  });
  switch (status.kind) {
    case 'Route':
      return { ...status, parents: status.parents.map(add) };
    case 'Gateway':
    case 'ListenerSet':
      return add(status);
    default:
      return status;
  }
}

function withVersion(
  status: GatewayApiStatus | undefined,
  versions: BundleVersions | undefined,
): GatewayApiStatus | undefined {
  if (status?.kind !== 'GatewayClass') return status;
  const conditions = [...status.conditions, ...supportedVersion(versions)];
  const supportedFeatures = listsFeatures(versions) ? status.supportedFeatures : [];
  return { ...status, conditions, supportedFeatures };
}

const ROUTES: readonly string[] = ['GRPCRoute', 'HTTPRoute', 'TCPRoute', 'TLSRoute', 'UDPRoute'];

const POLICIES: readonly string[] = ['BackendTLSPolicy', ...TARGETING_KINDS];

/** A route that refers to nothing of ours may still have what we wrote before. */
const NO_PARENTS: RouteStatus = { kind: 'Route', generation: 0, parents: [] };

/** So may a policy that has no targets any more. */
const NO_ANCESTORS: PolicyStatus = { kind: 'Policy', generation: 0, ancestors: [] };

function statusOf(
  object: ServedObject,
  { statuses }: GatewayApi,
  { rollout, known }: { readonly rollout: Rollout; readonly known: Known },
): GatewayApiStatus | undefined {
  const { parsed, generation } = object;
  const [item] = [...parsed.resources, ...parsed.rejected];
  if (item === undefined) return undefined;
  const status = statuses.get(item.id);
  if (item.kind === 'Gateway' && !('spec' in item)) {
    const isOurs = statuses.has(`GatewayClass//${item.gatewayClass}`);
    const lastGood = status?.kind === 'Gateway' ? status : undefined;
    return isOurs ? rejectedGateway(generation, lastGood, whyRejected(parsed)) : undefined;
  }
  if (item.kind === 'ListenerSet' && !('spec' in item)) {
    const lastGood = status?.kind === 'ListenerSet' ? status : undefined;
    const gateway = lastGood?.gateway ?? gatewayOf(item);
    const isOurs = gateway !== undefined && statuses.has(gateway);
    return isOurs ? rejectedSet(generation, gateway, lastGood, whyRejected(parsed)) : undefined;
  }
  if (status === undefined) {
    if (item.kind === 'Gateway' && 'spec' in item)
      return unclassedGateway(object, item.spec.gatewayClassName, known);
    if (item.kind === 'ListenerSet' && 'spec' in item)
      return orphanedSet(object, item, known, id => classOf(rollout.wanted.get(id)));
    if (POLICIES.includes(item.kind)) return NO_ANCESTORS;
    return ROUTES.includes(item.kind) ? NO_PARENTS : undefined;
  }
  // Our own kinds do not carry the generation, since it would be an edit of what they mean.
  const told = TARGETING_KINDS.includes(item.kind) ? { ...status, generation } : status;
  if (told.kind !== 'Route' && told.kind !== 'Policy') return told;
  if (!('spec' in item)) {
    return rejected({ ...told, generation }, whyRejected(parsed));
  }
  const byProxy = rollout.quarantined.get(item.id)?.message.trim();
  return byProxy === undefined ? told : rejected(told, `A proxy rejects it: ${byProxy}`);
}

function classOf(resource: Resource | undefined): string | undefined {
  return resource?.kind === 'Gateway' ? resource.spec.gatewayClassName : undefined;
}

function whyRejected({ problems }: ServedObject['parsed']): string {
  return problems.map(({ field = '', message }) => `${field}: ${message}`).join('. ');
}

/** @returns the id of the Gateway that a rejected ListenerSet names */
function gatewayOf({ namespace, parent }: Rejected): string | undefined {
  return parent && resourceId('Gateway', parent.namespace ?? namespace, parent.name);
}

/** The listeners of the last good version stay in force, and are told with its generation. */
function rejectedSet(
  generation: number,
  gateway: string,
  lastGood: ListenerSetStatus | undefined,
  message: string,
): ListenerSetStatus {
  return {
    kind: 'ListenerSet',
    generation,
    gateway,
    conditions: invalid(message),
    listeners: lastGood?.listeners ?? [],
    listenersGeneration: lastGood?.generation ?? generation,
  };
}

function invalid(message: string): readonly NamedCondition[] {
  const no = { status: 'False', reason: 'Invalid', message } as const;
  return [
    { type: 'Accepted', ...no },
    { type: 'Programmed', ...no },
  ];
}

/** As for a ListenerSet. */
function rejectedGateway(
  generation: number,
  lastGood: GatewayStatus | undefined,
  message: string,
): GatewayStatus {
  return {
    kind: 'Gateway',
    generation,
    conditions: invalid(message),
    listeners: lastGood?.listeners ?? [],
    listenersGeneration: lastGood?.generation ?? generation,
    attachedListenerSets: lastGood?.attachedListenerSets ?? 0,
  };
}

function rejected(status: RouteStatus | PolicyStatus, message: string): GatewayApiStatus {
  return status.kind === 'Route' ? rejectedRoute(status, message) : rejectedPolicy(status, message);
}

function rejectedPolicy(status: PolicyStatus, message: string): PolicyStatus {
  const conditions = [{ type: 'Accepted', status: 'False', reason: 'Invalid', message } as const];
  return { ...status, ancestors: status.ancestors.map(each => ({ ...each, conditions })) };
}

function rejectedRoute(status: RouteStatus, message: string): RouteStatus {
  const rejected: NamedCondition = {
    type: 'Accepted',
    status: 'False',
    reason: 'UnsupportedValue',
    message,
  };
  const parents = status.parents.map(({ parentRef, conditions }) => ({
    parentRef,
    conditions: [rejected, ...conditions.filter(({ type }) => type === 'ResolvedRefs')],
  }));
  return { ...status, parents };
}

const NO_EDGE: GatewayProgress = { proxies: undefined, addresses: [], missing: [] };

function progress(
  { gateways, statuses }: GatewayApi,
  { rollout, settled }: Pick<GatewayStatusState, 'rollout' | 'settled'>,
  { edgeOf }: GatewayStatusParts,
): (id: string) => GatewayProgress {
  const groups = new Map(gateways.map(({ gateway, group }) => [gateway.id, group]));
  return id => {
    const status = statuses.get(id);
    // It is no more ours.
    if (status === undefined && rollout.wanted.has(id)) return NO_EDGE;
    const gateway = status?.kind === 'ListenerSet' ? status.gateway : id;
    const rejected = rollout.quarantined.get(id);
    const isAccepted = isInForce(rollout, id) && settled.has(groups.get(gateway) ?? '');
    const proxies =
      rejected === undefined
        ? isAccepted
          ? ('accepted' as const)
          : undefined
        : { rejected: rejected.message.trim() };
    return { ...edgeOf(gateway), proxies };
  };
}

/** Acceptance is known by content. */
function isInForce({ accepted, wanted }: Rollout, id: string): boolean {
  const now: Resource | undefined = wanted.get(id);
  return now !== undefined && accepted.get(id)?.hash === now.hash;
}
