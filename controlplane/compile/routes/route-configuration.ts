import type { JsonObject } from '#protos/json.ts';
import type { ModuleConfig } from '#resources/kinds/module/module.ts';
import { forwardedPort } from '../forwarded-headers.ts';
import { HOST_HEADER } from '../tls/host-header.ts';
import { REPEAT_SAFE_METHODS } from './repeat-safe-methods.ts';
import { RETRIABLE_HEADER } from './retriable-header.ts';
import { sharedRetries } from './retry-policy.ts';
import { UPGRADE_ALONE } from './upgrades.ts';
import { takeWebSockets, WEB_SOCKET_KEY } from './web-socket-key.ts';

/** Returns Envoy's `RouteConfiguration`, of proxies that clients reach or of others. */
export function toRouteConfiguration(
  name: string,
  isEdge: boolean,
  virtualHosts: readonly JsonObject[],
  config: ModuleConfig,
): JsonObject {
  return {
    '@type': 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration',
    name,
    virtual_hosts: virtualHosts.map(sharedRetries),
    ignore_port_in_host_matching: true,
    ...(isEdge
      ? {
          request_headers_to_add: [
            forwardedPort(config),
            REPEAT_SAFE_METHODS,
            UPGRADE_ALONE,
            ...(takeWebSockets(virtualHosts) ? [WEB_SOCKET_KEY] : []),
          ],
          // A Mapping's additions override it.
          most_specific_header_mutations_wins: true,
          request_headers_to_remove: [HOST_HEADER],
          response_headers_to_remove: [RETRIABLE_HEADER],
        }
      : {}),
  };
}
