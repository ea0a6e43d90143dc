import type { JsonObject } from '#protos/json.ts';
import { isName, toAddress } from './address.ts';

const STATS = 'stats';
const LOCAL_ADMIN = 'local-admin';

/**
 * The names of the listeners of a bootstrap. No listener of the control plane has them: those are
 * addresses.
 */
export const OWN_LISTENERS: readonly string[] = [STATS, LOCAL_ADMIN];

/** The cluster of the bootstrap that leads to its own admin interface. */
export const ADMIN_CLUSTER = 'envoy-admin';

const TYPE = 'type.googleapis.com/envoy.extensions.filters';

/** Scrapers, probes and a few more. */
const MOST_CONNECTIONS = 100;

/**
 * Returns a listener that answers `GET /stats/prometheus` and `GET /ready` and nothing else. It
 * asks the admin interface, which would also end the process for any client. So it compares
 * the whole path with its query, unchanged, and never sends on what a client wrote. It answers
 * while Envoy sheds load.
 */
export function statsListener(address: string): JsonObject {
  // Statistics that were never written are left out. With many clusters they are the most.
  const routes = [
    exactRoute('/stats/prometheus', '/stats/prometheus?usedonly'),
    exactRoute('/ready', '/ready'),
  ];
  return listener(STATS, address, { virtual_hosts: [{ name: STATS, domains: ['*'], routes }] });
}

/**
 * Returns a listener that passes requests on to the admin interface, but none by which a web page
 * changes the proxy. A browser reaches the loopback for any page. It tells with `Origin` or
 * `Sec-Fetch-Site` that a page asks, and a page whose own name leads to the loopback has that name
 * in `Host`.
 */
export function localAdminListener(address: string): JsonObject {
  const deny = (body: string, headers: readonly JsonObject[] = []) => ({
    match: { prefix: '/', headers },
    direct_response: { status: 403, body: { inline_string: `${body}\n` } },
  });
  const notGet = { ...exactly(':method', 'GET'), invert_match: true };
  const fromPage = (name: string) =>
    deny('A web page may not change this proxy.', [notGet, { name, present_match: true }]);
  const pass = { match: { prefix: '/' }, route: { cluster: ADMIN_CLUSTER, timeout: '0s' } };
  return listener(LOCAL_ADMIN, address, {
    ignore_port_in_host_matching: true,
    virtual_hosts: [
      {
        name: LOCAL_ADMIN,
        domains: ['127.0.0.1', '[::1]', 'localhost'],
        routes: [fromPage('origin'), fromPage('sec-fetch-site'), pass],
      },
      { name: 'others', domains: ['*'], routes: [deny('Ask for it as 127.0.0.1 or localhost.')] },
    ],
  });
}

function listener(name: string, address: string, routes: JsonObject): JsonObject {
  const what = `${name} address`;
  if (isName(address, what))
    throw new Error(`The ${what} "${address}" has a host name: Envoy listens at IP addresses`);
  return {
    name,
    address: toAddress(address, what),
    ignore_global_conn_limit: true,
    bypass_overload_manager: true,
    filter_chains: [{ filters: [connectionLimit(name), http({ name, ...routes })] }],
  };
}

function connectionLimit(name: string): JsonObject {
  return {
    name: 'envoy.filters.network.connection_limit',
    typed_config: {
      '@type': `${TYPE}.network.connection_limit.v3.ConnectionLimit`,
      stat_prefix: name,
      max_connections: MOST_CONNECTIONS,
    },
  };
}

function http(routeConfig: JsonObject): JsonObject {
  return {
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
      route_config: routeConfig,
      http_filters: [
        {
          name: 'envoy.filters.http.router',
          typed_config: { '@type': `${TYPE}.http.router.v3.Router`, suppress_envoy_headers: true },
        },
      ],
    },
  };
}

function exactRoute(path: string, asked: string): JsonObject {
  return {
    match: { path, headers: [exactly(':method', 'GET'), exactly(':path', path)] },
    route: { cluster: ADMIN_CLUSTER, timeout: '30s', prefix_rewrite: asked },
  };
}

function exactly(name: string, exact: string): JsonObject {
  return { name, string_match: { exact } };
}
