/** How an Envoy asks for endpoints. */
export type Api = 'DELTA_GRPC' | 'GRPC' | 'REST';

/**
 * Returns the bootstrap of an Envoy whose listener `in` sends everything to the EDS cluster
 * `user-service`. The discovery service is at `port`. Another EDS cluster, `nobody`, asks for a
 * service that does not exist. `more` clusters may follow.
 */
export function edsBootstrap(api: Api, port: number, more: readonly object[] = []) {
  return {
    node: { id: `envoy-${api}`, cluster: 'edge' },
    static_resources: {
      listeners: [listener()],
      clusters: [
        discoveryCluster(api, port),
        edsCluster('user-service', api),
        edsCluster('nobody', api),
        ...more,
      ],
    },
  };
}

export function edsCluster(name: string, api: Api): object {
  const services =
    api === 'REST'
      ? { cluster_names: ['sds'], refresh_delay: '0.1s' }
      : { grpc_services: [{ envoy_grpc: { cluster_name: 'sds' } }] };
  return {
    name,
    type: 'EDS',
    connect_timeout: '0.25s',
    eds_cluster_config: {
      eds_config: {
        resource_api_version: 'V3',
        initial_fetch_timeout: '15s',
        api_config_source: { api_type: api, transport_api_version: 'V3', ...services },
      },
    },
  };
}

function discoveryCluster(api: Api, port: number): object {
  const http2 = {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      explicit_http_config: { http2_protocol_options: {} },
    },
  };
  const address = { socket_address: { address: '127.0.0.1', port_value: port } };
  return {
    name: 'sds',
    type: 'STATIC',
    connect_timeout: '1s',
    ...(api === 'REST' ? {} : { typed_extension_protocol_options: http2 }),
    load_assignment: {
      cluster_name: 'sds',
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    },
  };
}

function listener(): object {
  const router = { '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router' };
  const manager = {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'in',
    http_filters: [{ name: 'envoy.filters.http.router', typed_config: router }],
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'user-service' } }],
        },
      ],
    },
  };
  return {
    name: 'in',
    address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
    filter_chains: [
      {
        filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }],
      },
    ],
  };
}
