import { formatHostPort } from '#grpc/host-port.ts';
import type { JsonObject } from '#protos/json.ts';
import type { RateLimitServiceSpec } from '#resources/kinds/rate-limit-service/rate-limit-service.ts';
import type { HostPort } from '#resources/words/host.ts';
import { RATE_LIMIT_CLUSTER, rateLimitAddress } from '../clusters/rate-limit-cluster.ts';
import { toDuration } from '../duration.ts';
import { extension } from '../extension.ts';

/** What the edge's filter is made of. */
export type RateLimitFilter = {
  /** The operator's service; undefined: the built-in one. */
  readonly service: RateLimitServiceSpec | undefined;
  readonly builtIn: HostPort;
};

/**
 * How the built-in service is asked. An answer that is late lets the request pass, so the time outlasts pauses of a busy machine: in 20 ms, the default
 * of a RateLimitService, bursts of more than the rate passed [seen: 19 of 50 at a rate of 5, just after a start].
 */
export const BUILT_IN = { timeout_ms: 200, failure_mode_deny: false };

const NAME = 'envoy.filters.http.ratelimit';

/**
 * What the filter asks for where no route says otherwise. It never changes: another domain in the listener would drain it, and on connections from before
 * the limits of the former domain would be asked for, for minutes after they are gone.
 */
const FILTER_DOMAIN = 'gateway';

/** The part of a virtual host or route whose requests have labels of this domain. */
export function withLimits(domain: string): JsonObject {
  const own = domain === FILTER_DOMAIN ? {} : { domain };
  return {
    typed_per_filter_config: { [NAME]: extension('filters.http.ratelimit.v3.RateLimitPerRoute', own) },
  };
}

/**
 * Envoy's rate limit filter. It stands in the listener even when there is no label, so that the first label does not drain the listener. Where `withLimits` does not ask
 * for it, it is left out of the chain: it would ask nobody, and still cost a tenth of what Envoy does for a request [measured]. Clients are told 429 and
 * `Retry-After`, not by which product: there is no `x-envoy-ratelimited`. Source: docs/adr/0009-rate-limits-at-the-edge.md.
 */
export function rateLimitFilter({ service, builtIn }: RateLimitFilter): JsonObject {
  const { timeout_ms, failure_mode_deny } = service ?? BUILT_IN;
  return {
    name: NAME,
    disabled: true,
    typed_config: extension('filters.http.ratelimit.v3.RateLimit', {
      domain: FILTER_DOMAIN,
      timeout: toDuration(timeout_ms),
      failure_mode_deny,
      rate_limited_as_resource_exhausted: true,
      disable_x_envoy_ratelimited_header: true,
      rate_limit_service: {
        transport_api_version: 'V3',
        grpc_service: grpcService(rateLimitAddress(service, builtIn), timeout_ms),
      },
    }),
  };
}

function grpcService(address: HostPort, timeoutMs: number): JsonObject {
  return {
    envoy_grpc: { cluster_name: RATE_LIMIT_CLUSTER, authority: formatHostPort(address) },
    initial_metadata: [{ key: 'x-gateway-request-id', value: '%REQ(X-REQUEST-ID)%' }],
    retry_policy: retryPolicy(timeoutMs),
  };
}

/**
 * One more try, on another address and at once, where no service has seen the request: it would else be counted twice. Of the longest
 * interval Envoy also makes a timeout of each try, so it is the whole time.
 */
function retryPolicy(timeoutMs: number): JsonObject {
  return {
    retry_on: 'connect-failure,refused-stream,reset-before-request',
    num_retries: 1,
    retry_back_off: { base_interval: '0.001s', max_interval: toDuration(timeoutMs) },
    retry_host_predicate: [
      {
        name: 'envoy.retry_host_predicates.previous_hosts',
        typed_config: extension('retry.host.previous_hosts.v3.PreviousHostsPredicate'),
      },
    ],
    host_selection_retry_max_attempts: '3',
  };
}
