import { formatHostPort } from '#grpc/host-port.ts';
import type { JsonObject } from '#protos/json.ts';
import type { RateLimitServiceSpec } from '#resources/kinds/rate-limit-service/rate-limit-service.ts';
import type { HostPort } from '#resources/words/host.ts';
import { RATE_LIMIT_CLUSTER } from '../clusters/reserved-clusters.ts';
import { toDuration } from '../duration.ts';
import { extension } from '../extension.ts';
import { DEFAULT_DOMAINS } from './asked-domains.ts';

/** The inputs of the edge's filters. */
export type RateLimitFilter = {
  /** The operator's service. Undefined: the built-in one. */
  readonly service: RateLimitServiceSpec | undefined;
  readonly builtIn: HostPort;
  /** Whether the service is told the request id, as the answers of a limit may name it. */
  readonly tellsRequestId: boolean;
};

/**
 * The settings of the built-in service. A late answer lets the request pass, so the time outlasts
 * pauses of a busy machine. In 20 ms, the default of a RateLimitService, bursts of more than the
 * rate passed [seen: 19 of 50 at a rate of 5, just after a start].
 */
export const BUILT_IN = { timeout_ms: 200, failure_mode_deny: false };

/**
 * The edge's rate limit filters. A filter asks for one domain, and counts the labels of its stage.
 * So each default domain has its own, and a request passes the filters for whose domain it has
 * labels. The domain that a filter has in the listener never changes. Another domain would drain
 * the listener. Its older connections would ask for the limits of the former domain for minutes
 * after they are gone.
 */
const FILTERS = [
  { name: 'envoy.filters.http.ratelimit', domain: DEFAULT_DOMAINS[0], stage: 0 },
  { name: 'envoy.filters.http.ratelimit.ambassador', domain: DEFAULT_DOMAINS[1], stage: 1 },
] as const;

/** Returns a domain's filter. The first one also asks for the domain that an operator names. */
function filterOf(domain: string): (typeof FILTERS)[number] {
  return FILTERS.find(filter => filter.domain === domain) ?? FILTERS[0];
}

/** Returns the stage of labels of a domain. */
export function stageOf(domain: string): number {
  return filterOf(domain).stage;
}

/** Returns the part of a virtual host or route whose requests have labels of these domains. */
export function withLimits(domains: readonly string[]): JsonObject {
  const configs = domains.map(domain => {
    const filter = filterOf(domain);
    const own = domain === filter.domain ? {} : { domain };
    return [filter.name, extension('filters.http.ratelimit.v3.RateLimitPerRoute', own)] as const;
  });
  return { typed_per_filter_config: Object.fromEntries(configs) };
}

/**
 * Returns Envoy's rate limit filters (docs/adr/0009-rate-limits-at-the-edge.md). They stand in the
 * listener even without any label, so that the first label does not drain the listener. Where
 * `withLimits` does not ask for one, it is left out of the chain. It would ask for nothing, and
 * still cost a tenth of what Envoy does for a request [measured]. Clients get 429 and
 * `Retry-After`, without the name of a product: there is no `x-envoy-ratelimited`.
 */
export function rateLimitFilters({
  service,
  builtIn,
  tellsRequestId,
}: RateLimitFilter): readonly JsonObject[] {
  const { timeout_ms, failure_mode_deny } = service ?? BUILT_IN;
  const authority = formatHostPort(service?.service ?? builtIn);
  return FILTERS.map(({ name, domain, stage }) => ({
    name,
    disabled: true,
    typed_config: extension('filters.http.ratelimit.v3.RateLimit', {
      domain,
      ...(stage === 0 ? {} : { stage }),
      timeout: toDuration(timeout_ms),
      failure_mode_deny,
      rate_limited_as_resource_exhausted: true,
      disable_x_envoy_ratelimited_header: true,
      rate_limit_service: {
        transport_api_version: 'V3',
        grpc_service: {
          envoy_grpc: { cluster_name: RATE_LIMIT_CLUSTER, authority },
          ...(tellsRequestId ? REQUEST_ID : {}),
        },
      },
    }),
  }));
}

/**
 * It takes 5 % of what a limited request costs Envoy [measured]. Behind a proxy a client may choose
 * it, and a call whose headers are too long for the service would let the request pass.
 */
const REQUEST_ID: JsonObject = {
  initial_metadata: [{ key: 'x-gateway-request-id', value: '%REQ(X-REQUEST-ID):100%' }],
};
