import * as z from 'zod';
import { circuitBreakers, routingPriority } from '#resources/traffic/circuit-breakers.ts';
import { cors } from '#resources/traffic/cors.ts';
import { keepalive } from '#resources/traffic/keepalive.ts';
import { loadBalancer } from '#resources/traffic/load-balancer.ts';
import { outlierDetection } from '#resources/traffic/outlier-detection.ts';
import { retryPolicy } from '#resources/traffic/retry-policy.ts';
import { falseByDefault, trueByDefault } from '#resources/words/flags.ts';
import { milliseconds } from '#resources/words/number-types.ts';
import { healthChecks } from './health-checks.ts';

/** The fields of a Mapping that say how its requests and answers are carried. */
export const mappingTrafficShape = {
  cors: cors
    .exactOptional()
    .describe(
      'Pages of other origins that may read the answers. Preflights are answered without Filters and limits. Headers of the service for origins and credentials are removed',
    ),
  retry_policy: retryPolicy
    .exactOptional()
    .describe(
      'When a request of any method is retried. A request that no instance has begun to work on is retried once in any case. The edge also retries GET, HEAD and OPTIONS when the connection broke. `num_retries: 0`: never. A request with more than 32 KiB of body is not retried',
    ),
  load_balancer: loadBalancer
    .exactOptional()
    .describe('How requests are spread over the instances of the service'),
  shadow: falseByDefault.describe(
    'The service gets copies of the requests of Mappings that match the same (`weight` percent of them), as these send them, with `-shadow` behind the host. Its answers are discarded. An upload of megabytes goes no faster than it reads',
  ),
  circuit_breakers: circuitBreakers
    .exactOptional()
    .describe('Bounds of what a proxy has open to the service. Anything beyond is answered 503'),
  health_checks: healthChecks
    .exactOptional()
    // Ambassador's cluster spells it so when it is asked for v2.
    .meta({ deprecatedNames: ['v3health_checks'] })
    .describe(
      'How each proxy asks the instances whether they are well. An instance that is not gets no requests. While fewer than half of them are well, all get requests',
    ),
  outlier_detection: outlierDetection
    .exactOptional()
    .describe(
      'When an instance that fails requests gets none for a while. Default: after five requests in a row without a connection, late, or answered 502, 503 or 504, for 5 s and longer each time. Fields that are not written keep these values',
    ),
  priority: routingPriority
    .default('default')
    .describe('`high` has separate connections and `circuit_breakers`'),
  idle_timeout_ms: milliseconds
    .exactOptional()
    .describe(
      'A request without a byte in either direction ends after this time. 0: never. Default: 300000, or `timeout_ms` if that is more',
    ),
  cluster_idle_timeout_ms: milliseconds
    .exactOptional()
    .describe(
      'A connection to the service without a request ends after this time. 0: never. Default: 4000 with HTTP/1.1',
    ),
  cluster_max_connection_lifetime_ms: milliseconds
    .exactOptional()
    .describe(
      'A connection to the service gets no new request after this time. Default, and 0: no end',
    ),
  enable_ipv4: trueByDefault.describe(
    'With resolver `dns`: whether IPv4 addresses of the service are resolved',
  ),
  enable_ipv6: z
    .boolean()
    .exactOptional()
    .describe(
      'The same for IPv6, default: where the name has no IPv4 address. `true`: these before the others',
    ),
  respect_dns_ttl: falseByDefault.describe(
    'With resolver `dns`: names are resolved again after their TTL, not every five seconds',
  ),
  grpc: falseByDefault.describe('Requests to the service use HTTP/2'),
  keepalive: keepalive
    .exactOptional()
    .describe('Probes of TCP on connections to the service. Default: as the system has it'),
};
