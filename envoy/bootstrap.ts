import type { JsonObject } from '#protos/json.ts';
import { isName, toAddress } from './address.ts';
import { ADMIN_CLUSTER, localAdminListener, statsListener } from './admin-listeners.ts';
import { type IdentityFiles, identityTls } from './identity-tls.ts';
import { OVERLOAD_MANAGER } from './overload-manager.ts';
import { pushFigures, samplingLayer } from './push-figures.ts';
import { STATS_CONFIG } from './stats-config.ts';

export type BootstrapOptions = {
  /** Envoy's `node.id`, which names this one proxy. */
  readonly nodeId: string;
  /** Envoy's `node.cluster`, the node group whose resources it gets. */
  readonly group: string;
  /**
   * Where the control plane serves ADS. `host:port`, `[IPv6]:port` or `unix:/path`, as all
   * addresses here.
   */
  readonly xdsAddress: string;
  /** Where the discovery service serves EDS, by gRPC and by REST. */
  readonly sdsAddress: string;
  /** The admin interface. Default: none. It obeys everybody who reaches it. */
  readonly adminAddress?: string;
  /**
   * A listener for `GET /stats/prometheus` and `GET /ready` alone. It needs `adminAddress`.
   * Default: none.
   */
  readonly statsAddress?: string;
  /**
   * A listener for the whole admin interface, which refuses what a web page would change. It needs
   * `adminAddress`, which is best a unix socket then. Default: none.
   */
  readonly localAdminAddress?: string;
  /**
   * Identity for mutual TLS with the control plane and the discovery service. Default: plain text.
   */
  readonly identity?: IdentityFiles;
  /** Whether only other proxies connect to it, and no clients. Default: clients do. */
  readonly isBehindEdge?: boolean;
  /** Whether it pushes its statistics to the control plane. Default: it does. */
  readonly figures?: boolean;
  /**
   * Clusters of further discovery services, which the group's ProxyConfigs name in
   * `cluster_manager`.
   */
  readonly discoveryClusters?: readonly JsonObject[];
  /**
   * Whether it is not ready before the control plane has sent listeners, however long that takes.
   * Default: it is ready without any after 15 s.
   */
  readonly waitsForListeners?: boolean;
};

/**
 * Statistics of routes without requests for so long are given up. A multiple of each flush.
 * Prometheus sees no growth in the first value of a counter. So those of a nightly job stay.
 */
const EVICTION = '86400s';

const HTTP_PROTOCOL_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/**
 * Returns the bootstrap of one Envoy as proto3 JSON. Listeners, routes and clusters come by delta
 * ADS from cluster `controlplane`. Endpoints come from cluster `sds` (gRPC) or `sds-rest`
 * (HTTP/1.1). Only a cluster of the bootstrap can carry a subscription, so
 * `node.metadata.discovery_clusters` tells the control plane which ones there are. Throws an Error
 * that names an address of the wrong form.
 */
export function bootstrap(options: BootstrapOptions): JsonObject {
  const {
    nodeId,
    group,
    xdsAddress,
    sdsAddress,
    adminAddress,
    identity,
    isBehindEdge = false,
    figures = true,
    discoveryClusters = [],
    waitsForListeners = false,
  } = options;
  const ads = {
    ads: {},
    resource_api_version: 'V3',
    ...(waitsForListeners ? { initial_fetch_timeout: '0s' } : {}),
  };
  const discovery = [
    cluster('sds', sdsAddress, HTTP2, identity && identityTls(identity, 'sds', 'h2')),
    cluster('sds-rest', sdsAddress, HTTP1, identity && identityTls(identity, 'sds', 'http/1.1')),
    ...discoveryClusters,
  ];
  const controlplane = cluster(
    'controlplane',
    xdsAddress,
    HTTP2,
    identity && identityTls(identity, 'controlplane', 'h2'),
  );
  return {
    node: {
      id: nodeId,
      cluster: group,
      metadata: { discovery_clusters: discovery.map(({ name }) => name ?? null) },
    },
    ...(adminAddress === undefined ? {} : { admin: admin(adminAddress) }),
    dynamic_resources: {
      ads_config: ADS_CONFIG,
      cds_config: ads,
      lds_config: ads,
    },
    static_resources: staticResources([controlplane, ...discovery], options),
    ...(figures ? pushFigures('controlplane') : {}),
    stats_config: STATS_CONFIG,
    stats_eviction_interval: EVICTION,
    // A cluster without traffic has a fifth of the statistics, and is made in half the time.
    deferred_stat_options: { enable_deferred_creation_stats: true },
    layered_runtime: {
      layers: [
        { name: 'static', static_layer: isBehindEdge ? RUNTIME_BEHIND_EDGE : RUNTIME },
        ...(figures ? [samplingLayer('controlplane')] : []),
      ],
    },
    overload_manager: OVERLOAD_MANAGER,
  };
}

function staticResources(
  clusters: readonly JsonObject[],
  { adminAddress, localAdminAddress, statsAddress }: BootstrapOptions,
): JsonObject {
  const listeners = [
    ...(statsAddress === undefined ? [] : [statsListener(statsAddress)]),
    ...(localAdminAddress === undefined ? [] : [localAdminListener(localAdminAddress)]),
  ];
  if (listeners.length === 0) return { clusters };
  if (adminAddress === undefined)
    throw new Error('The stats address wants an admin address: statistics come from there');
  return {
    listeners,
    clusters: [...clusters, cluster(ADMIN_CLUSTER, adminAddress, HTTP1, undefined)],
  };
}

/**
 * Envoy's default of 100 rejects a modest expression, or a literal path of 100 characters in one.
 */
const RUNTIME: JsonObject = { 're2.max_program_size.error_level': 65_536 };

/**
 * Envoy ends a connection of HTTP/2 of which 500 streams, or half of more, were reset within a
 * second. That is for clients of the edge. On the edge's connection to a proxy beside an instance
 * they are requests of many clients, and some that give up would end those of all others.
 */
const RUNTIME_BEHIND_EDGE: JsonObject = {
  ...RUNTIME,
  'overload.premature_reset_total_stream_count': 2 ** 32,
};

/**
 * Short back-off. After an outage of the control plane Envoy's default would wait for up to 30 s.
 */
const ADS_CONFIG: JsonObject = {
  api_type: 'DELTA_GRPC',
  transport_api_version: 'V3',
  set_node_on_first_message_only: true,
  grpc_services: [
    {
      envoy_grpc: {
        cluster_name: 'controlplane',
        retry_policy: { retry_back_off: { base_interval: '0.1s', max_interval: '0.5s' } },
      },
    },
  ],
};

/** Pings, so that a peer that vanished without notice is detected within 15 s. */
const HTTP2: JsonObject = {
  http2_protocol_options: { connection_keepalive: { interval: '10s', timeout: '5s' } },
};

const HTTP1: JsonObject = { http_protocol_options: {} };

/**
 * Envoy opens a stream for the endpoints of each cluster and for each secret. Streams beyond this
 * limit would never be opened.
 */
const STREAMS: JsonObject = {
  thresholds: [{ max_requests: 65_536, max_pending_requests: 65_536 }],
};

/**
 * Exempts the admin interface from the limit of connections, so that it answers when clients have
 * used up all.
 */
function admin(address: string): JsonObject {
  return { address: toAddress(address, 'admin address'), ignore_global_conn_limit: true };
}

function cluster(
  name: string,
  address: string,
  protocol: JsonObject,
  transportSocket: JsonObject | undefined,
): JsonObject {
  const what = `address of ${name}`;
  const endpoint = { address: toAddress(address, what) };
  return {
    name,
    type: isName(address, what) ? 'STRICT_DNS' : 'STATIC',
    connect_timeout: '1s',
    circuit_breakers: STREAMS,
    typed_extension_protocol_options: {
      [HTTP_PROTOCOL_OPTIONS]: {
        '@type': `type.googleapis.com/${HTTP_PROTOCOL_OPTIONS}`,
        explicit_http_config: protocol,
      },
    },
    upstream_connection_options: {
      tcp_keepalive: { keepalive_time: 10, keepalive_interval: 5, keepalive_probes: 2 },
    },
    ...(transportSocket === undefined ? {} : { transport_socket: transportSocket }),
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint }] }] },
  };
}
