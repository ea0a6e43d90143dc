import type { JsonObject } from '#protos/json.ts';
import { extension } from './extension.ts';
import { type RateLimitFilter, rateLimitFilter } from './rate-limit-filter.ts';

/** The HTTP filters, in the order in which a request meets them. Rate limits are the edge's: `undefined` elsewhere. */
export function httpFilters(rateLimit: RateLimitFilter | undefined): readonly JsonObject[] {
  return rateLimit === undefined ? [ROUTER] : [rateLimitFilter(rateLimit), ROUTER];
}

const ROUTER: JsonObject = {
  name: 'envoy.filters.http.router',
  typed_config: extension('filters.http.router.v3.Router'),
};
