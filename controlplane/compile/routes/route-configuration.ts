import type { JsonObject } from '#protos/json.ts';
import type { ModuleConfig } from '#resources/kinds/module/module.ts';
import { forwardedPort } from '../forwarded-headers.ts';
import { EDGE } from '../node-groups.ts';
import { HOST_HEADER } from '../tls/host-header.ts';
import { RETRIABLE_HEADER } from './retriable-header.ts';

/** Returns Envoy's `RouteConfiguration` of a node group, which has the group's name. */
export function toRouteConfiguration(
  group: string,
  virtualHosts: readonly JsonObject[],
  config: ModuleConfig,
): JsonObject {
  return {
    '@type': 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration',
    name: group,
    virtual_hosts: virtualHosts,
    ignore_port_in_host_matching: true,
    ...(group === EDGE
      ? {
          request_headers_to_add: [forwardedPort(config)],
          // A Mapping's additions override it.
          most_specific_header_mutations_wins: true,
          request_headers_to_remove: [HOST_HEADER],
          response_headers_to_remove: [RETRIABLE_HEADER],
        }
      : {}),
  };
}
