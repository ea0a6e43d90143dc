import type { RateLimitSpec } from '#resources/kinds/rate-limit/rate-limit-spec.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { NamedCluster } from './clusters/cluster-names.ts';
import { rateLimitCluster } from './clusters/rate-limit-cluster.ts';
import { RATE_LIMIT_CLUSTER } from './clusters/reserved-clusters.ts';
import { remembersDecisions } from './ext-authz/decision-revision.ts';
import { keptFilter } from './kept-lists.ts';
import { collectorsOf } from './listeners/collectors.ts';
import type { EdgeListener } from './listeners/http-connection-manager.ts';
import type { Memo } from './memo.ts';
import type { CompileOptions } from './options.ts';
import { gatewayHeaders } from './rate-limits/injected-headers.ts';
import { labellings } from './rate-limits/labelling.ts';
import type { RateLimitContext } from './rate-limits/rate-limit-problems.ts';
import { takenHeaders } from './rate-limits/taken-headers.ts';
import { withErrorBodies } from './routes/error-bodies.ts';

/** The rate limits' part of the edge's configuration. */
export type EdgeRateLimits = RateLimitContext & {
  readonly cluster: NamedCluster;
  readonly listener: EdgeListener;
  /** Ids of the resources with the labels of every request. */
  readonly origins: readonly string[];
};

export type UsedByGateways = {
  /** Ids of the GRPCRoutes there. Those of other Gateways change nothing, and drain nothing. */
  readonly grpcRoutes: readonly string[];
  /** The RateLimits that requests may meet, there or at any other Gateway. */
  readonly limits: ResourceSet['rateLimits'];
};

/**
 * Returns the rate limit service of the edge, the labels for it, and the headers that its limits
 * set.
 */
export function edgeRateLimits(
  resources: ResourceSet,
  { grpcRoutes, limits: applied }: UsedByGateways,
  options: CompileOptions,
  memo: Memo,
): EdgeRateLimits {
  const labels = labellings(resources);
  const isAsked = (domain: string) => labels.domains.some(labelling => labelling.domain === domain);
  const taken = takenHeaders({ ...resources, rateLimits: applied });
  const asked = applied.filter(({ spec }) => isAsked(spec.domain));
  const own = gatewayHeaders(asked, taken);
  const service = resources.rateLimitServices[0]?.spec;
  const answering = idsOf(asked, ({ errorResponse }) => errorResponse !== undefined);
  const modules = resources.modules.slice(0, 1).map(({ id }) => id);
  const remembering = resources.filters.filter(remembersDecisions).map(({ id }) => id);
  const replacing = withErrorBodies(resources.mappings);
  const calling = grpcUsers(resources, grpcRoutes);
  const cluster = clusterOf(resources, options, memo);
  const { collectors, origins: told } = collectorsOf(resources);
  return {
    labellings: labels,
    applied,
    taken,
    gatewayHeaders: own,
    builtIn: options.rateLimit,
    cluster,
    listener: {
      config: resources.config,
      rateLimit: {
        service,
        builtIn: options.rateLimit,
        tellsRequestId: service !== undefined || answering.length > 0,
      },
      extAuthz: options.extAuthz,
      gatewayHeaders: own,
      decisionCache: remembering.length > 0,
      errorBodies: replacing.length > 0,
      grpc: calling.length > 0,
      figures: options.figures !== false,
      collectors,
      origins: [
        ...modules,
        ...cluster.origins,
        ...idsOf(asked, ({ injectRequestHeaders }) => injectRequestHeaders.length > 0),
        ...answering,
        ...replacing,
        ...calling,
        ...remembering,
        ...told,
      ],
    },
    origins: labels.domains.every(({ defaults }) => defaults.length === 0) ? [] : modules,
  };
}

/** Returns the first that passes on calls of gRPC. */
function grpcUsers({ mappings }: ResourceSet, grpcRoutes: readonly string[]): readonly string[] {
  const user = callingGrpc(mappings)[0]?.id ?? grpcRoutes[0];
  return user === undefined ? [] : [user];
}

const callingGrpc = keptFilter(({ spec }: Resource<'Mapping'>) => spec.grpc);

function idsOf(
  rateLimits: ResourceSet['rateLimits'],
  holds: (limit: RateLimitSpec['limits'][number]) => boolean,
): readonly string[] {
  return rateLimits.filter(({ spec }) => spec.limits.some(holds)).map(({ id }) => id);
}

function clusterOf(
  { rateLimitServices }: ResourceSet,
  options: CompileOptions,
  memo: Memo,
): NamedCluster {
  const { rateLimit, caFile, serviceTls, trustDomain } = options;
  const service = rateLimitServices[0];
  const inputs = [rateLimit.host, rateLimit.port, caFile, serviceTls, trustDomain];
  const json = memo.of(service?.spec ?? memo, 'rate limit cluster', inputs, () =>
    rateLimitCluster(service?.spec, options),
  );
  return { name: RATE_LIMIT_CLUSTER, json, origins: service === undefined ? [] : [service.id] };
}
