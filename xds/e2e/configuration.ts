import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import {
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  LISTENER,
  ROUTE_CONFIGURATION,
} from '#protos/type-url.ts';
import { type Snapshot, snapshotOf, type XdsResource, xdsResource } from '../snapshot.ts';

/** How an Envoy asks: by which variant, over one aggregated stream or one stream a type. */
export type Asking = {
  readonly api: 'DELTA_GRPC' | 'GRPC';
  readonly aggregated: boolean;
  /** The port of a server that requests wait for in a filter. */
  readonly holder?: number;
};

const HCM =
  'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const ROUTER = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router';

/** A filter in which requests wait for an answer, with the route that they had when they came. */
const HOLDING = {
  name: 'holder',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz',
    http_service: { server_uri: { uri: 'http://holder', cluster: 'holder', timeout: '30s' } },
  },
};

function resource(name: string, json: JsonObject): XdsResource {
  return xdsResource(name, encodeAny(json));
}

function apiConfigSource(api: Asking['api']): JsonObject {
  const retry_policy = { retry_back_off: { base_interval: '0.1s', max_interval: '0.5s' } };
  const grpc_services = [{ envoy_grpc: { cluster_name: 'controlplane', retry_policy } }];
  return { api_type: api, transport_api_version: 'V3', grpc_services };
}

function configSource({ api, aggregated }: Asking): JsonObject {
  const source = aggregated ? { ads: {} } : { api_config_source: apiConfigSource(api) };
  return { ...source, resource_api_version: 'V3', initial_fetch_timeout: '15s' };
}

function assignment(name: string, port: number): JsonObject {
  const address = { socket_address: { address: '127.0.0.1', port_value: port } };
  return { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] };
}

/** The bootstrap of an Envoy in group `edge` that asks the discovery server on this port. */
export function bootstrap(asking: Asking, port: number): JsonObject {
  const source = configSource(asking);
  return {
    node: { id: 'edge-1', cluster: 'edge' },
    dynamic_resources: {
      ...(asking.aggregated ? { ads_config: apiConfigSource(asking.api) } : {}),
      cds_config: source,
      lds_config: source,
    },
    static_resources: {
      clusters: [
        {
          name: 'controlplane',
          connect_timeout: '1s',
          typed_extension_protocol_options: {
            'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
              '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
          load_assignment: assignment('controlplane', port),
        },
        ...(asking.holder === undefined
          ? []
          : [{ name: 'holder', load_assignment: assignment('holder', asking.holder) }]),
      ],
    },
  };
}

/** A cluster whose endpoints are discovered. */
export function cluster(asking: Asking, name: string): XdsResource {
  const eds_cluster_config = { eds_config: configSource(asking) };
  return resource(name, {
    '@type': CLUSTER,
    name,
    type: 'EDS',
    connect_timeout: '1s',
    eds_cluster_config,
  });
}

/** A cluster that Envoy refuses. */
export function badCluster(name: string): XdsResource {
  return resource(name, { '@type': CLUSTER, name, type: 'EDS', connect_timeout: '1s' });
}

/**
 * A listener `edge` with all routes to `routeTo`, and each cluster of `ports` with an endpoint on
 * its port.
 */
export function configuration(
  asking: Asking,
  routeTo: string,
  ports: Readonly<Record<string, number>>,
  more: readonly XdsResource[] = [],
): Snapshot {
  const clusters = Object.entries(ports).flatMap(([name, port]) => [
    cluster(asking, name),
    resource(name, { '@type': CLUSTER_LOAD_ASSIGNMENT, ...assignment(name, port) }),
  ]);
  return snapshotOf([listener(asking), route(routeTo), ...clusters, ...more]);
}

function listener(asking: Asking): XdsResource {
  const rds = { config_source: configSource(asking), route_config_name: 'edge' };
  const router = { name: 'router', typed_config: { '@type': ROUTER } };
  const http_filters = asking.holder === undefined ? [router] : [HOLDING, router];
  const typed_config = { '@type': HCM, stat_prefix: 'edge', rds, http_filters };
  return resource('edge', {
    '@type': LISTENER,
    name: 'edge',
    address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
    filter_chains: [{ filters: [{ name: 'http', typed_config }] }],
  });
}

function route(cluster: string): XdsResource {
  return resource('edge', {
    '@type': ROUTE_CONFIGURATION,
    name: 'edge',
    virtual_hosts: [
      { name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster } }] },
    ],
  });
}
