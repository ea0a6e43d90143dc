import type { Json, JsonObject } from '#protos/json.ts';

/** Parts of Envoys that are written by hand, beside which the generated ones are measured. */
const TYPE = 'type.googleapis.com/envoy.extensions';

/** Returns an extension that has the name of its type, such as `filters.http.router.v3.Router`. */
export function extension(type: string, options: JsonObject = {}): JsonObject {
  return { name: type, typed_config: { '@type': `${TYPE}.${type}`, ...options } };
}

export type PlainListener = {
  /** Also the name of its statistics. */
  readonly name: string;
  /** Default: any free one. */
  readonly port?: number;
  readonly virtualHosts: readonly JsonObject[];
  /** Those before the router. */
  readonly filters: readonly JsonObject[];
  /** Further settings of its connection manager. */
  readonly manager?: JsonObject;
};

/** Returns a listener of HTTP on the loopback. */
export function plainListener({
  name,
  port = 0,
  virtualHosts,
  filters,
  manager,
}: PlainListener): JsonObject {
  const http = extension('filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: name,
    route_config: { virtual_hosts: virtualHosts },
    http_filters: [...filters, extension('filters.http.router.v3.Router')],
    ...manager,
  });
  return { name, address: address(port), filter_chains: [{ filters: [http] }] };
}

/** Returns a virtual host for all hosts, with one route for all paths. */
export function anyHost(name: string, route: Readonly<Record<string, Json>>): JsonObject {
  return { name, domains: ['*'], routes: [{ match: { prefix: '/' }, ...route }] };
}

/** Settings of a cluster that speaks HTTP/2. */
export const HTTP2: JsonObject = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': `${TYPE}.upstreams.http.v3.HttpProtocolOptions`,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

/** Returns a cluster of one instance on the loopback. */
export function plainCluster(name: string, port: number, options: JsonObject = {}): JsonObject {
  return {
    name,
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
    },
    ...options,
  };
}

function address(port: number): JsonObject {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}
