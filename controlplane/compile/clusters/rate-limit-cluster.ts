import type { JsonObject } from '#protos/json.ts';
import type { RateLimitServiceSpec } from '#resources/kinds/rate-limit-service/rate-limit-service.ts';
import { RATELIMIT_SERVICE } from '../node-groups.ts';
import { type CompileOptions, DEFAULT_CA_FILE } from '../options.ts';
import { CALL_RETRIES } from './call-retries.ts';
import { toCluster } from './cluster.ts';
import { membersOf } from './members.ts';
import { RATE_LIMIT_CLUSTER } from './reserved-clusters.ts';
import { serviceTls } from './service-tls.ts';
import { upstreamTls } from './upstream-tls.ts';

/**
 * Connections are made before a decision's few milliseconds begin. A dead address is noticed soon.
 */
const CONNECT_TIMEOUT_MS = 1000;

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
  const { host, port } = service?.service ?? builtIn;
  const isBuiltIn = host === builtIn.host && port === builtIn.port;
  const tls = service !== undefined && (service.tls || service.service.scheme === 'https');
  const cluster = toCluster(RATE_LIMIT_CLUSTER, {
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    members: membersOf(RATE_LIMIT_CLUSTER, { host, port }),
    protocol: 'http2',
    retries: CALL_RETRIES,
    ...(isBuiltIn ? serviceTls({ host, port }, RATELIMIT_SERVICE, options) : {}),
    ...(tls ? { transportSocket: upstreamTls(host, caFile, 'h2') } : {}),
  });
  const statsName = service?.stats_name;
  return statsName === undefined ? cluster : { ...cluster, alt_stat_name: statsName };
}
