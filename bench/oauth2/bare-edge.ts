import { startEnvoy } from '#envoy/e2e/envoy-process.ts';
import type { JsonObject } from '#protos/json.ts';
import type { Edge } from './edge.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const NAME = 'bare';

/**
 * Starts an Envoy with one worker that answers 200 itself and has no optional setting. What is left
 * is Envoy's own cost. Checks go to the service at this port. With `undefined` it has no filter but
 * its router.
 */
export async function startBareEdge(service: number | undefined): Promise<Edge> {
  const filters = service === undefined ? [] : [EXT_AUTHZ];
  const clusters = service === undefined ? [] : [cluster(service)];
  const envoy = await startEnvoy({
    static_resources: { listeners: [listener(filters)], clusters },
  });
  return { envoy, port: await envoy.listenerPort(NAME) };
}

const EXT_AUTHZ = filter('ext_authz.v3.ExtAuthz', {
  transport_api_version: 'V3',
  grpc_service: { envoy_grpc: { cluster_name: NAME } },
});

function filter(type: string, options: JsonObject): JsonObject {
  return { name: type, typed_config: { '@type': `${TYPE}.filters.http.${type}`, ...options } };
}

function listener(filters: readonly JsonObject[]): JsonObject {
  const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];
  const manager = {
    '@type': `${TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: NAME,
    route_config: { virtual_hosts: [{ name: NAME, domains: ['*'], routes }] },
    http_filters: [...filters, filter('router.v3.Router', {})],
  };
  return {
    name: NAME,
    address: address(0),
    filter_chains: [{ filters: [{ name: NAME, typed_config: manager }] }],
  };
}

function cluster(port: number): JsonObject {
  return {
    name: NAME,
    load_assignment: {
      cluster_name: NAME,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
    },
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
        '@type': `${TYPE}.upstreams.http.v3.HttpProtocolOptions`,
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
  };
}

function address(port: number): JsonObject {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}
