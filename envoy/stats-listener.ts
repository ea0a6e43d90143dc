import type { JsonObject } from '#protos/json.ts';
import { isName, toAddress } from './address.ts';

/** The listener's name, which no listener of the control plane has: those are addresses. */
export const STATS_LISTENER = 'stats';

/** The cluster of the bootstrap that leads to its own admin interface. */
export const ADMIN_CLUSTER = 'envoy-admin';

const ADDRESS = 'stats address';
const TYPE = 'type.googleapis.com/envoy.extensions.filters';

/** Scrapers, probes and a few more. */
const MOST_CONNECTIONS = 100;

/**
 * Returns a listener that answers `GET /stats/prometheus` and `GET /ready` and nothing else. It
 * asks the admin interface, which would also end the process for whoever reaches it. So it compares
 * the whole path with its query, unchanged, and never sends on what a client wrote. It answers
 * while Envoy sheds load.
 */
export function statsListener(address: string): JsonObject {
  if (isName(address, ADDRESS))
    throw new Error(`The ${ADDRESS} "${address}" has a host name: Envoy listens at IP addresses`);
  return {
    name: STATS_LISTENER,
    address: toAddress(address, ADDRESS),
    ignore_global_conn_limit: true,
    bypass_overload_manager: true,
    filter_chains: [{ filters: [CONNECTION_LIMIT, HTTP] }],
  };
}

const CONNECTION_LIMIT: JsonObject = {
  name: 'envoy.filters.network.connection_limit',
  typed_config: {
    '@type': `${TYPE}.network.connection_limit.v3.ConnectionLimit`,
    stat_prefix: STATS_LISTENER,
    max_connections: MOST_CONNECTIONS,
  },
};

const HTTP: JsonObject = {
  name: 'envoy.filters.network.http_connection_manager',
  typed_config: {
    '@type': `${TYPE}.network.http_connection_manager.v3.HttpConnectionManager`,
    // Counted with the admin interface, for which no drain waits.
    stat_prefix: 'admin',
    codec_type: 'HTTP1',
    generate_request_id: false,
    max_request_headers_kb: 8,
    request_headers_timeout: '10s',
    stream_idle_timeout: '30s',
    common_http_protocol_options: { idle_timeout: '120s', max_headers_count: 50 },
    route_config: {
      name: STATS_LISTENER,
      virtual_hosts: [
        {
          name: STATS_LISTENER,
          domains: ['*'],
          // Statistics that were never written are left out. With many clusters they are the most.
          routes: [
            route('/stats/prometheus', '/stats/prometheus?usedonly'),
            route('/ready', '/ready'),
          ],
        },
      ],
    },
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': `${TYPE}.http.router.v3.Router`, suppress_envoy_headers: true },
      },
    ],
  },
};

function route(path: string, asked: string): JsonObject {
  const exactly = (name: string, exact: string) => ({ name, string_match: { exact } });
  return {
    match: { path, headers: [exactly(':method', 'GET'), exactly(':path', path)] },
    route: { cluster: ADMIN_CLUSTER, timeout: '30s', prefix_rewrite: asked },
  };
}
