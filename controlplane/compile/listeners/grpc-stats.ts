import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';

/**
 * Envoy's filter that counts gRPC calls of a cluster by their status, as in
 * `cluster.<name>.grpc.14`. All other counters have the HTTP status, which is 200. Methods are not
 * told apart, since clients write their names.
 */
export const GRPC_STATS_FILTER: JsonObject = {
  name: 'envoy.filters.http.grpc_stats',
  typed_config: extension('filters.http.grpc_stats.v3.FilterConfig', {
    stats_for_all_methods: false,
  }),
};
