import type { JsonObject } from '#protos/json.ts';
import type { RateLimitServiceSpec } from '#resources/kinds/rate-limit-service/rate-limit-service.ts';
import type { HostPort } from '#resources/words/host.ts';
import { RATELIMIT_SERVICE } from '../node-groups.ts';
import { type CompileOptions, DEFAULT_CA_FILE } from '../options.ts';
import { toCluster } from './cluster.ts';
import { membersOf } from './members.ts';
import { serviceTls } from './service-tls.ts';
import { upstreamTls } from './upstream-tls.ts';

/**
 * The name of the rate limit service's cluster, whichever service it is. So the listener stays the
 * same when the address changes.
 */
export const RATE_LIMIT_CLUSTER = 'ratelimit-service';

/**
 * Connections are made before a decision's few milliseconds begin. A dead address is noticed soon.
 */
const CONNECT_TIMEOUT_MS = 1000;

/** Returns the address of the rate limit service: the operator's, or the built-in one. */
export function rateLimitAddress(
  service: RateLimitServiceSpec | undefined,
  builtIn: HostPort,
): HostPort {
  return service?.service ?? builtIn;
}

/**
 * Returns Envoy's `Cluster` of the rate limit service. It speaks HTTP/2 to all addresses that DNS
 * has for the name. The built-in one is asked by mutual TLS where it is on another machine, the
 * operator's as its RateLimitService says.
 */
export function rateLimitCluster(
  service: RateLimitServiceSpec | undefined,
  options: CompileOptions,
): JsonObject {
  const { rateLimit: builtIn, caFile = DEFAULT_CA_FILE } = options;
  const { host, port } = rateLimitAddress(service, builtIn);
  const isBuiltIn = host === builtIn.host && port === builtIn.port;
  const tls = service !== undefined && (service.tls || service.service.scheme === 'https');
  const cluster = toCluster(RATE_LIMIT_CLUSTER, {
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    members: membersOf(RATE_LIMIT_CLUSTER, { host, port }),
    protocol: 'http2',
    ...(isBuiltIn ? serviceTls({ host, port }, RATELIMIT_SERVICE, options) : {}),
    ...(tls ? { transportSocket: upstreamTls(host, caFile, 'h2') } : {}),
  });
  const statsName = service?.stats_name;
  return statsName === undefined ? cluster : { ...cluster, alt_stat_name: statsName };
}
