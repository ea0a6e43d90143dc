import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';

/** The name of the filter, and of its settings in a route. */
export const CORS_NAME = 'envoy.filters.http.cors';

/**
 * Envoy's CORS filter. It comes before the filters that ask a service. A preflight has no
 * credentials, and pages must be able to read the answers of those filters. It stands in the
 * listener even without any `cors`, so that the first one does not drain the listener. It is left
 * out of the chain of requests whose route has none.
 */
export const CORS_FILTER: JsonObject = {
  name: CORS_NAME,
  disabled: true,
  typed_config: extension('filters.http.cors.v3.Cors'),
};

/**
 * The part of a virtual host where the filter is in the chain of every request. Routes without
 * `cors` stay without it.
 */
export const CORS_IN_CHAIN: JsonObject = {
  typed_per_filter_config: {
    [CORS_NAME]: extension('filters.http.cors.v3.CorsPolicy', {
      filter_enabled: { default_value: { numerator: 0 } },
    }),
  },
};
