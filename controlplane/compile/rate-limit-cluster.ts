import type { JsonObject } from '#protos/json.ts';
import type { HostPort } from '#resources/host.ts';
import type { RateLimitServiceSpec } from '#resources/rate-limit-service.ts';
import { toCluster } from './cluster.ts';
import { membersOf } from './members.ts';
import { upstreamTls } from './upstream-tls.ts';

/** The name of the rate limit service's cluster, whichever service it is: the listener need not change with its address. */
export const RATE_LIMIT_CLUSTER = 'ratelimit-service';

/** Connections are made ahead of a decision's few milliseconds; a dead address is to be known soon. */
const CONNECT_TIMEOUT_MS = 1000;

/** Where the rate limit service is: the operator's, or the built-in one. */
export function rateLimitAddress(service: RateLimitServiceSpec | undefined, builtIn: HostPort): HostPort {
  return service?.service ?? builtIn;
}

/** Envoy's `Cluster` of the rate limit service: HTTP/2, over all addresses that DNS has for its name. */
export function rateLimitCluster(
  service: RateLimitServiceSpec | undefined,
  builtIn: HostPort,
  caFile: string,
): JsonObject {
  const { host, port } = rateLimitAddress(service, builtIn);
  const tls = service !== undefined && (service.tls || service.service.scheme === 'https');
  const cluster = toCluster(RATE_LIMIT_CLUSTER, {
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    members: membersOf(RATE_LIMIT_CLUSTER, { host, port }),
    protocol: 'http2',
    ...(tls ? { transportSocket: upstreamTls(host, caFile, 'h2') } : {}),
  });
  const statsName = service?.stats_name;
  return statsName === undefined ? cluster : { ...cluster, alt_stat_name: statsName };
}
