import type { JsonObject } from '#protos/json.ts';
import type { HostPort } from '#resources/host.ts';
import { extAuthzFilter } from './ext-authz-filter.ts';
import { extension } from './extension.ts';
import { HSTS } from './hsts.ts';
import { type RateLimitFilter, rateLimitFilter } from './rate-limit-filter.ts';

/** The services that the edge asks about requests. */
export type Deciders = {
  /** Where the service is that runs filters. */
  readonly extAuthz: HostPort;
  readonly rateLimit: RateLimitFilter;
};

/**
 * The HTTP filters, in the order in which a request meets them: labels can use the headers that Filters set. Elsewhere than at the edge nobody
 * is asked: `undefined`.
 */
export function httpFilters(deciders: Deciders | undefined, tls = false): readonly JsonObject[] {
  if (deciders === undefined) return [ROUTER];
  return [
    ...(tls ? [HSTS] : []),
    extAuthzFilter(deciders.extAuthz),
    rateLimitFilter(deciders.rateLimit),
    ROUTER,
  ];
}

const ROUTER: JsonObject = {
  name: 'envoy.filters.http.router',
  typed_config: extension('filters.http.router.v3.Router'),
};
