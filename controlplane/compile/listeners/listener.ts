import { formatHostPort } from '#grpc/host-port.ts';
import type { JsonObject } from '#protos/json.ts';
import type { HostPort } from '#resources/words/host.ts';
import { toSocketAddress } from '../socket-address.ts';

/** Source: Envoy's page "Configuring Envoy as an edge proxy". */
export const BUFFER_LIMIT_BYTES = 32 * 1024;

/** A vanished client is noticed after two minutes. Source: tcp(7). */
export const CLIENT_KEEPALIVE: JsonObject = {
  tcp_keepalive: { keepalive_probes: 4, keepalive_time: 60, keepalive_interval: 15 },
};

/**
 * Returns a listener's name, which is its address. Another address is another listener, which opens
 * before the old one drains.
 */
export function listenerName(address: HostPort): string {
  return formatHostPort(address);
}

/**
 * Returns Envoy's `Listener` of HTTP, plain or over a transport socket. Source for the limit:
 * Envoy's page "Configuring Envoy as an edge proxy".
 */
export function toListener(
  address: HostPort,
  httpConnectionManager: JsonObject,
  transportSocket?: JsonObject,
): JsonObject {
  return {
    '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
    name: listenerName(address),
    address: toSocketAddress(address),
    per_connection_buffer_limit_bytes: BUFFER_LIMIT_BYTES,
    ...CLIENT_KEEPALIVE,
    filter_chains: [
      {
        filters: [
          {
            name: 'envoy.filters.network.http_connection_manager',
            typed_config: httpConnectionManager,
          },
        ],
        ...(transportSocket === undefined ? {} : { transport_socket: transportSocket }),
      },
    ],
  };
}
