import { spiffeId } from '#certificates/identity.ts';

/** The group that the server's certificate is to be of, and the only one that may call. */
export const SERVER = 'user-service';
const CLIENT = 'edge';

const TYPE = 'type.googleapis.com/envoy';
const V3 = { resource_api_version: 'V3' };

export type Api = 'DELTA_GRPC' | 'GRPC';

/**
 * How a proxy asks for a secret: always with the same bytes, so that a listener or cluster that
 * names it is always the same.
 */
function secret(name: string, api: Api): object {
  return {
    name,
    sds_config: {
      ...V3,
      initial_fetch_timeout: '1s',
      api_config_source: {
        api_type: api,
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'sds' } }],
      },
    },
  };
}

/** Mutual TLS by the built-in secrets, with whoever is of `peer`. */
function commonTls(peer: string, api: Api): object {
  const san_type = 'URI';
  const matcher = { exact: spiffeId({ trustDomain: 'gateway.internal', group: peer }) };
  return {
    tls_params: {
      tls_minimum_protocol_version: 'TLSv1_3',
      tls_maximum_protocol_version: 'TLSv1_3',
    },
    alpn_protocols: ['h2'],
    tls_certificate_sds_secret_configs: [secret('gateway/identity', api)],
    combined_validation_context: {
      default_validation_context: { match_typed_subject_alt_names: [{ san_type, matcher }] },
      validation_context_sds_secret_config: secret('gateway/roots', api),
    },
  };
}

/**
 * The application proxy: its listener `hop` answers by itself, and comes from a file, so that it
 * can be edited.
 */
export function serverBootstrap(sdsPort: number, listenersFile: string): object {
  return {
    node: { id: 'server', cluster: SERVER },
    dynamic_resources: { lds_config: { ...V3, path_config_source: { path: listenersFile } } },
    static_resources: { clusters: [sdsCluster(sdsPort)] },
  };
}

/** The content of that file. */
export function serverListeners(
  port: number,
  answer: string,
  api: Api = 'DELTA_GRPC',
  pair = 'gateway/identity',
): object {
  const tls = commonTls(CLIENT, api);
  const named =
    pair === 'gateway/identity'
      ? tls
      : { ...tls, tls_certificate_sds_secret_configs: [secret(pair, api)] };
  const transport_socket = {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': `${TYPE}.extensions.transport_sockets.tls.v3.DownstreamTlsContext`,
      require_client_certificate: true,
      common_tls_context: named,
    },
  };
  const route = { direct_response: { status: 200, body: { inline_string: answer } } };
  return {
    resources: [
      {
        '@type': `${TYPE}.config.listener.v3.Listener`,
        ...listener('hop', port, route, transport_socket),
      },
    ],
  };
}

/**
 * The edge proxy: plain in front, mutual TLS to `port`. A connection serves a few requests only, so
 * that there are always handshakes.
 */
export function clientBootstrap(sdsPort: number, port: number, api: Api = 'DELTA_GRPC'): object {
  const cluster = {
    ...staticCluster('hop', port),
    typed_extension_protocol_options: http2({ max_requests_per_connection: 10 }),
    transport_socket: {
      name: 'envoy.transport_sockets.tls',
      typed_config: {
        '@type': `${TYPE}.extensions.transport_sockets.tls.v3.UpstreamTlsContext`,
        common_tls_context: commonTls(SERVER, api),
      },
    },
  };
  return {
    node: { id: 'client', cluster: CLIENT },
    static_resources: {
      listeners: [listener('in', 0, { route: { cluster: 'hop' } }, undefined)],
      clusters: [sdsCluster(sdsPort), cluster],
    },
  };
}

function sdsCluster(port: number): object {
  return { ...staticCluster('sds', port), typed_extension_protocol_options: http2({}) };
}

function staticCluster(name: string, port: number): object {
  const address = { socket_address: { address: '127.0.0.1', port_value: port } };
  return {
    name,
    type: 'STATIC',
    connect_timeout: '1s',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    },
  };
}

function http2(common_http_protocol_options: object): object {
  return {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': `${TYPE}.extensions.upstreams.http.v3.HttpProtocolOptions`,
      common_http_protocol_options,
      explicit_http_config: { http2_protocol_options: {} },
    },
  };
}

function listener(
  name: string,
  port: number,
  action: object,
  transport_socket: object | undefined,
): object {
  const manager = {
    '@type': `${TYPE}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: name,
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': `${TYPE}.extensions.filters.http.router.v3.Router` },
      },
    ],
    route_config: {
      virtual_hosts: [
        { name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, ...action }] },
      ],
    },
  };
  const filters = [
    { name: 'envoy.filters.network.http_connection_manager', typed_config: manager },
  ];
  return {
    name,
    address: { socket_address: { address: '127.0.0.1', port_value: port } },
    filter_chains: [{ filters, ...(transport_socket && { transport_socket }) }],
  };
}
