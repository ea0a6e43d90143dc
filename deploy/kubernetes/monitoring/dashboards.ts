/** A curve by its legend, and PromQL. `[$step]` stands for the time between two points. */
export type Curves = Readonly<Record<string, string>>;

export type Panel = {
  readonly title: string;
  /** Grafana's name of a unit. Default: a plain number. */
  readonly unit?: 'short' | 'reqps' | 's' | 'ms' | 'bytes' | 'percent' | 'percentunit';
  readonly curves: Curves;
};

export type Dashboard = {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
};

/** The edge, and the proxies of Gateways (`gatewayGroup`). */
const EDGE = 'envoy_http_conn_manager_prefix=~"edge|.+-[0-9a-f]{16}"';

/** Requests that met a Mapping or a route of a Gateway. Proxies beside applications have others. */
const ROUTED = 'envoy_route=~"(Mapping|HTTPRoute|GRPCRoute)/.+"';

/** Clusters of the gateway itself. */
const OWN =
  'envoy_cluster_name!~"controlplane|sds|sds-rest|envoy-admin|ext-authz|ratelimit-service"';

const rate = (metric: string, by = '') =>
  `sum${by === '' ? '' : ` by (${by}) `}(rate(${metric}[$step]))`;

const quantile = (part: number, histogram: string, by = '') =>
  `histogram_quantile(${part}, sum by (le${by}) (rate(${histogram}[$step])))`;

const times = (histogram: string): Curves => ({
  p50: quantile(0.5, histogram),
  p99: quantile(0.99, histogram),
});

const edge: Dashboard = {
  uid: 'gateway-edge',
  title: 'Gateway: edge and services',
  panels: [
    {
      title: 'Requests by status',
      unit: 'reqps',
      curves: {
        '{{envoy_response_code_class}}xx': rate(
          `envoy_http_downstream_rq_xx{${EDGE}}`,
          'envoy_response_code_class',
        ),
      },
    },
    {
      title: 'Time until the answer ends',
      unit: 'ms',
      curves: times(`envoy_http_downstream_rq_time_bucket{${EDGE}}`),
    },
    {
      title: 'Busiest routes',
      unit: 'reqps',
      curves: {
        '{{envoy_route}}': `topk(10, ${rate(`envoy_route_requests{${ROUTED}}`, 'envoy_route')})`,
      },
    },
    {
      title: 'Routes with errors',
      unit: 'reqps',
      curves: {
        '{{envoy_route}}': `topk(10, ${rate(`envoy_route_requests{${ROUTED},envoy_response_code=~"5.."}`, 'envoy_route')})`,
      },
    },
    {
      title: 'gRPC calls, and those that fail',
      unit: 'reqps',
      curves: {
        all: rate('envoy_cluster_grpc_total'),
        UNKNOWN: rate('envoy_cluster_grpc_2'),
        DEADLINE_EXCEEDED: rate('envoy_cluster_grpc_4'),
        INTERNAL: rate('envoy_cluster_grpc_13'),
        UNAVAILABLE: rate('envoy_cluster_grpc_14'),
        DATA_LOSS: rate('envoy_cluster_grpc_15'),
      },
    },
    {
      title: 'Slowest routes, p99',
      unit: 'ms',
      curves: {
        '{{envoy_route}}': `topk(10, ${quantile(0.99, `envoy_route_request_time_bucket{${ROUTED}}`, ', envoy_route')})`,
      },
    },
    {
      title: 'Connections of clients',
      curves: { open: `sum(envoy_http_downstream_cx_active{${EDGE}})` },
    },
    {
      title: 'Instances that are well',
      curves: {
        '{{envoy_cluster_name}}': `min by (envoy_cluster_name) (envoy_cluster_membership_healthy{${OWN}})`,
      },
    },
    {
      title: 'Instances in discovery',
      curves: {
        '{{envoy_cluster_name}}': `max by (envoy_cluster_name) (envoy_cluster_membership_total{${OWN}})`,
      },
    },
    {
      title: 'Failed connections and health checks',
      unit: 'reqps',
      curves: {
        'connections to {{envoy_cluster_name}}': rate(
          'envoy_cluster_upstream_cx_connect_fail',
          'envoy_cluster_name',
        ),
        'checks of {{envoy_cluster_name}}': rate(
          'envoy_cluster_health_check_failure',
          'envoy_cluster_name',
        ),
      },
    },
    {
      title: 'Instances out by outlier detection',
      curves: {
        '{{envoy_cluster_name}}':
          'max by (envoy_cluster_name) (envoy_cluster_outlier_detection_ejections_active)',
      },
    },
    {
      title: 'Memory of proxies',
      unit: 'bytes',
      curves: { 'heap of {{instance}}': 'envoy_server_memory_heap_size' },
    },
    {
      title: 'Heap in use, of where load is shed',
      unit: 'percent',
      curves: {
        '{{instance}}': 'envoy_overload_envoy_resource_monitors_fixed_heap_pressure',
      },
    },
  ],
};

const decisions: Dashboard = {
  uid: 'gateway-decisions',
  title: 'Gateway: Filters and limits',
  panels: [
    {
      title: 'Checks by result',
      unit: 'reqps',
      curves: { '{{outcome}}': rate('gateway_ext_authz_checks_total', 'outcome') },
    },
    {
      title: 'Time of checks',
      unit: 's',
      curves: times('gateway_ext_authz_check_seconds_bucket'),
    },
    {
      title: 'What Filters did',
      unit: 'reqps',
      curves: {
        '{{filter}}: {{outcome}}': rate(
          'gateway_ext_authz_filter_outcomes_total',
          'filter, outcome',
        ),
      },
    },
    {
      title: 'Rules in force, and closed paths',
      curves: {
        rules: 'max(gateway_ext_authz_rules)',
        'closed paths': 'sum(max by (rule, host, path) (gateway_ext_authz_closed_paths))',
      },
    },
    {
      title: 'Decisions by limit',
      unit: 'reqps',
      curves: {
        '{{limit}}: {{outcome}}': rate('gateway_ratelimit_decisions_total', 'limit, outcome'),
      },
    },
    {
      title: 'Answers about limits',
      unit: 'reqps',
      curves: { '{{code}}': rate('gateway_ratelimit_answers_total', 'code') },
    },
    {
      title: 'Time of the counter store',
      unit: 's',
      curves: times('gateway_ratelimit_store_seconds_bucket'),
    },
    {
      title: 'Counters in memory',
      curves: {
        counters: 'sum(gateway_ratelimit_counters)',
        most: 'sum(gateway_ratelimit_counters_max)',
      },
    },
    {
      title: 'Memory of the counter store',
      unit: 'bytes',
      curves: {
        used: 'max(gateway_ratelimit_store_used_bytes)',
        most: 'max(gateway_ratelimit_store_max_bytes)',
      },
    },
    {
      title: 'Lost counters and failed templates',
      unit: 'reqps',
      curves: {
        'dropped, {{limit}}': rate('gateway_ratelimit_counters_dropped_total', 'limit'),
        'template of {{limit}}': rate('gateway_ratelimit_template_failures_total', 'limit'),
        evicted: 'sum(rate(gateway_ratelimit_store_evicted_keys[$step]))',
      },
    },
    {
      title: 'What proxies got no decision about',
      unit: 'reqps',
      curves: {
        Filters: rate('envoy_http_ext_authz_error'),
        limits: rate('envoy_cluster_ratelimit_error'),
      },
    },
    {
      title: 'Requests that wait for the counter store',
      curves: { waiting: 'sum(gateway_ratelimit_store_waiting)' },
    },
  ],
};

const controlPlane: Dashboard = {
  uid: 'gateway-control-plane',
  title: 'Gateway: control plane and discovery',
  panels: [
    {
      title: 'Problems',
      curves: { '{{severity}}': 'max by (severity) (gateway_problems)' },
    },
    {
      title: 'Resources by state',
      curves: { '{{state}}': 'max by (state) (gateway_resources)' },
    },
    {
      title: 'Connected proxies',
      curves: { '{{group}}': 'sum by (group) (gateway_proxies)' },
    },
    {
      title: 'Answers of proxies',
      unit: 'reqps',
      curves: {
        '{{type}}: {{answer}}': rate('gateway_xds_answers_total', 'type, answer'),
      },
    },
    {
      title: 'Time until a change is published',
      unit: 's',
      curves: times('gateway_publish_seconds_bucket'),
    },
    {
      title: 'Rejected by proxies',
      unit: 'reqps',
      curves: {
        clusters: rate('envoy_cluster_manager_cds_update_rejected'),
        listeners: rate('envoy_listener_manager_lds_update_rejected'),
        routes: rate('envoy_http_rds_update_rejected'),
      },
    },
    {
      title: 'Ready, and leaders',
      curves: {
        'ready {{instance}}': 'gateway_ready',
        leaders: 'sum(gateway_status_leader)',
      },
    },
    {
      title: 'Status written to objects',
      unit: 'reqps',
      curves: { '{{result}}': rate('gateway_status_writes_total', 'result') },
    },
    {
      title: 'Instances by service',
      curves: { '{{service}}': 'max by (service) (sds_instances)' },
    },
    {
      title: 'DNS queries of discovery',
      unit: 'reqps',
      curves: { '{{outcome}}': rate('sds_dns_queries_total', 'outcome') },
    },
    {
      title: 'Time left of certificates',
      unit: 's',
      curves: { '{{kind}} {{name}}': 'min by (kind, name) (sds_certificate_seconds_left)' },
    },
    {
      title: 'Secrets that cannot be used',
      curves: {
        broken: 'max(sds_secrets_broken)',
        refused: 'sum(increase(sds_secrets_rejected_total[$step]))',
      },
    },
    {
      title: 'CPU of services',
      unit: 'percentunit',
      curves: { '{{instance}}': 'rate(process_cpu_seconds_total[$step])' },
    },
    {
      title: 'Memory of services',
      unit: 'bytes',
      curves: { '{{instance}}': 'process_resident_memory_bytes' },
    },
  ],
};

/** The dashboards by the name of their file. */
export const DASHBOARDS: Readonly<Record<string, Dashboard>> = {
  'edge.json': edge,
  'decisions.json': decisions,
  'control-plane.json': controlPlane,
};
