import type { JsonObject } from '#protos/json.ts';

const GIB = 2 ** 30;
const HEAP = 'envoy.resource_monitors.fixed_heap';
const CONNECTIONS = 'envoy.resource_monitors.global_downstream_max_connections';

/**
 * The order in which an Envoy sheds load at 2 GiB of heap or 50,000 client connections. Source:
 * Envoy's pages "Configuring Envoy as an edge proxy" and "Overload manager".
 */
export const OVERLOAD_MANAGER: JsonObject = {
  refresh_interval: '0.25s',
  resource_monitors: [
    monitor(HEAP, 'fixed_heap.v3.FixedHeapConfig', { max_heap_size_bytes: 2 * GIB }),
    monitor(CONNECTIONS, 'downstream_connections.v3.DownstreamConnectionsConfig', {
      max_active_downstream_connections: 50_000,
    }),
  ],
  actions: [
    action('shrink_heap', 0.9),
    action('disable_http_keepalive', 0.95),
    action('stop_accepting_requests', 0.98),
    action('stop_accepting_connections', 0.99),
  ],
};

function monitor(name: string, type: string, config: JsonObject): JsonObject {
  const typeUrl = `type.googleapis.com/envoy.extensions.resource_monitors.${type}`;
  return { name, typed_config: { '@type': typeUrl, ...config } };
}

/** Returns an action that begins when this part of the heap is in use. */
function action(name: string, value: number): JsonObject {
  return {
    name: `envoy.overload_actions.${name}`,
    triggers: [{ name: HEAP, threshold: { value } }],
  };
}
