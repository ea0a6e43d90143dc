import type { JsonObject } from '#protos/json.ts';
import type { HostPort } from '#resources/words/host.ts';

/** Returns Envoy's `core.v3.Address`. */
export function toSocketAddress({ host, port }: HostPort): JsonObject {
  return { socket_address: { address: host, port_value: port } };
}
