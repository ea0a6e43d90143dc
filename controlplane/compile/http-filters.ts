import type { JsonObject } from '#protos/json.ts';
import { extension } from './extension.ts';

/** The HTTP filters, in the order in which a request meets them. */
export const HTTP_FILTERS: readonly JsonObject[] = [
  { name: 'envoy.filters.http.router', typed_config: extension('filters.http.router.v3.Router') },
];
