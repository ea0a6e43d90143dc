import * as z from 'zod';
import { circuitBreakers } from '#resources/traffic/circuit-breakers.ts';
import { cors } from '#resources/traffic/cors.ts';
import { keepalive } from '#resources/traffic/keepalive.ts';
import { loadBalancer } from '#resources/traffic/load-balancer.ts';
import { retryPolicy } from '#resources/traffic/retry-policy.ts';
import { milliseconds } from '#resources/words/number-types.ts';
import { defaultResponseHeaders, mappingHeadersShape } from '../mapping/mapping-headers.ts';

/** A default with an error is left out alone, because the Module's other settings protect. */
const META = { droppable: true, describedElsewhere: true } as const;

/** What a Module sets for all Mappings that do not set it themselves. */
export const moduleDefaultsShape = {
  cors: cors.exactOptional().meta(META).describe('`cors` of Mappings without'),
  retry_policy: retryPolicy
    .exactOptional()
    .meta(META)
    .describe('`retry_policy` of Mappings without'),
  load_balancer: loadBalancer
    .exactOptional()
    .meta(META)
    .describe('`load_balancer` of Mappings without'),
  circuit_breakers: circuitBreakers
    .exactOptional()
    .meta(META)
    .describe('`circuit_breakers` of Mappings without'),
  keepalive: keepalive.exactOptional().meta(META).describe('`keepalive` of Mappings without'),
  cluster_idle_timeout_ms: milliseconds
    .exactOptional()
    .meta(META)
    .describe('`cluster_idle_timeout_ms` of Mappings without'),
  cluster_max_connection_lifetime_ms: milliseconds
    .exactOptional()
    .meta(META)
    .describe('`cluster_max_connection_lifetime_ms` of Mappings without'),
};

const headers = {
  add_request_headers: mappingHeadersShape.add_request_headers.meta(META),
  remove_request_headers: mappingHeadersShape.remove_request_headers.meta(META),
  add_response_headers: defaultResponseHeaders.meta(META),
  remove_response_headers: mappingHeadersShape.remove_response_headers.meta(META),
};

/** Changes of headers, which Ambassador keeps in a place of their own. */
export const headerDefaults = z
  .object({ httpmapping: z.object(headers).prefault({}), ...headers })
  .prefault({})
  .meta({ describedElsewhere: true })
  .describe(
    'Below `httpmapping`: `add_request_headers`, `remove_request_headers`, `add_response_headers` and `remove_response_headers` of Mappings without. They may stand in `defaults` itself too',
  );
