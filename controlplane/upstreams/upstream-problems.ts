import {
  EXT_AUTHZ_CLUSTER,
  RATE_LIMIT_CLUSTER,
} from '#controlplane/compile/clusters/reserved-clusters.ts';
import { backendOfCluster } from '#controlplane/compile/gateways/backend-cluster-name.ts';
import { problemOf } from '#controlplane/compile/problem-of.ts';
import { systemProblem } from '#controlplane/rollout/problems.ts';
import { isGatewayApiKind } from '#resources/kinds/known-kinds.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { describeFailure, type Failure, OF_ROUTES } from './failure.ts';
import type { Trouble } from './known.ts';
import type { Upstream } from './upstream.ts';
import { upstreamField } from './upstream-field.ts';

/** One broken service may have thousands of Mappings. */
const MOST_PROBLEMS = 1_000;

/**
 * Returns a Problem at each field that says where a failing service is. They are warnings, since
 * the resources stay in force: the service may come back. No resource names the gateway's own
 * services.
 */
export function upstreamProblems(
  troubles: readonly Trouble[],
  resources: ReadonlyMap<string, Resource>,
): readonly Problem[] {
  const problems = new Map<string, Problem>();
  for (const trouble of troubles) {
    const since = new Date(trouble.since).toISOString();
    for (const problem of problemsOf(trouble, resources)) {
      if (problems.size === MOST_PROBLEMS) return [...problems.values()];
      // Two node groups may see the same of one resource.
      const key = JSON.stringify(problem);
      if (!problems.has(key)) problems.set(key, { ...problem, since });
    }
  }
  return [...problems.values()];
}

function problemsOf(
  { failure, upstream }: Trouble,
  resources: ReadonlyMap<string, Resource>,
): readonly Problem[] {
  const { cluster, group, origins } = upstream;
  if (origins.length === 0) {
    const what = ofHop(failure, upstream, LOOK_AT_LOGS);
    const message = `${seenBy(group, failure)}: ${describeFailure(what, OWN[cluster])}`;
    return [{ ...systemProblem('Service', cluster, message), severity: 'warning' }];
  }
  return concerned(failure, origins).flatMap(id => {
    const resource = resources.get(id);
    if (resource === undefined) return [];
    const field = upstreamField(resource, upstream);
    if (field === undefined) return [];
    const remedy = resource.kind === 'RateLimitService' ? LOOK_AT_LOGS : LEAVE_OUT_TLS;
    const message = describeOf(resource, field, ofHop(failure, upstream, remedy));
    return [problemOf(resource, 'warning', field, message)];
  });
}

/** No setting of TLS changes how proxies reach each other and our services, as it does backends. */
function ofHop(failure: Failure, { cluster, tls }: Upstream, remedy: string): Failure {
  const isHop = tls === 'hop' && backendOfCluster(cluster) === undefined;
  return failure.kind === 'tls' && isHop ? { ...failure, remedy } : failure;
}

const LOOK_AT_LOGS = 'Look at its log and at that of sds, which issues the certificates of both';

const LEAVE_OUT_TLS =
  'The proxies ask it by the mutual TLS of the gateway. Write `hop_tls: false` if no proxy of the gateway is before it. Otherwise the node group of that proxy must have the name of the service: look at its log, and at that of sds';

function seenBy(group: string, { kind }: Failure): string {
  const isReached = kind === 'silent' || kind === 'refused' || kind.startsWith('some ');
  return isReached
    ? `node group "${group}"`
    : `the proxies of node group "${group}" do not reach it`;
}

/** Of the Mappings of one service, some may wait for it longer than others. */
function concerned(failure: Failure, origins: readonly string[]): readonly string[] {
  if (failure.kind !== 'late') return origins;
  const late = origins.filter(id => failure.routes.includes(id));
  return late.length > 0 ? late : origins;
}

/** Says what fails in the words of the resource that names the service in this field. */
export function describeOf(resource: Resource, field: string, failure: Failure): string {
  const words = isGatewayApiKind(resource.kind) ? OF_ROUTES : undefined;
  const isCopied =
    field.includes('requestMirror') || (resource.kind === 'Mapping' && resource.spec.shadow);
  const until = isCopied ? 'Until then copies of requests are lost' : untilThen(resource);
  return describeFailure(ofResource(failure, resource), until, words);
}

function ofResource(failure: Failure, { kind, spec }: Resource): Failure {
  if (failure.kind === 'silent')
    return kind === 'RateLimitService' ? { ...failure, bound: 'timeout_ms' } : failure;
  if (failure.kind !== 'late') return failure;
  if (isGatewayApiKind(kind)) return { ...failure, bound: 'timeouts' };
  const isUnbound = kind === 'Mapping' && spec.timeout_ms === 0;
  return isUnbound ? { ...failure, bound: 'per_try_timeout' } : failure;
}

function untilThen(resource: Resource): string | undefined {
  switch (resource.kind) {
    case 'RateLimitService':
      return resource.spec.failure_mode_deny
        ? 'Until then requests with labels are rejected'
        : OWN[RATE_LIMIT_CLUSTER];
    case 'LogService':
      return 'Until then entries of the access log are lost. Requests go on';
    case 'TracingService':
      return 'Until then spans are lost. Requests go on';
    case 'TLSRoute':
    case 'TCPRoute':
      return 'Until then connections are closed';
    case 'UDPRoute':
      return 'Until then datagrams are lost';
    default:
      return undefined;
  }
}

/** What follows when one of the gateway's own services is not reached. */
const OWN: Readonly<Record<string, string>> = {
  [EXT_AUTHZ_CLUSTER]: 'Until then requests to routes that a rule may match get 503',
  [RATE_LIMIT_CLUSTER]: 'Until then limits are not counted',
};
