import {
  counter,
  gauge,
  histogram,
  metricsMessage,
} from '#controlplane/figures/testing/figure-messages.ts';
import { LATENCY_BOUNDS } from '#envoy/latency-bounds.ts';

/** What an Envoy pushes of a cluster in use: the names of its counters, gauges and histograms. */
const CLUSTER = {
  counted: ['upstream_rq_total', 'upstream_rq_completed', 'upstream_rq_2xx', 'upstream_rq_200'],
  idle: [
    ...['default.total_match_count', 'membership_change', 'update_attempt', 'update_no_rebuild'],
    ...['upstream_cx_connect_fail', 'upstream_cx_destroy', 'upstream_cx_http1_total'],
    ...['upstream_cx_rx_bytes_total', 'upstream_cx_total', 'upstream_cx_tx_bytes_total'],
    ...['upstream_rq_503', 'upstream_rq_5xx', 'upstream_rq_pending_total', 'update_success'],
    ...['external.upstream_rq_200', 'external.upstream_rq_2xx', 'external.upstream_rq_completed'],
  ],
  gauges: [
    ...['circuit_breakers.default.cx_open', 'circuit_breakers.default.cx_pool_open'],
    ...['circuit_breakers.default.rq_open', 'circuit_breakers.default.rq_pending_open'],
    ...['max_host_weight', 'membership_degraded', 'membership_excluded', 'membership_healthy'],
    ...['membership_total', 'upstream_cx_active', 'upstream_cx_rx_bytes_buffered'],
    ...['upstream_rq_active', 'upstream_rq_pending_active', 'warming_state'],
  ],
  histograms: [
    ...['external.upstream_rq_time', 'upstream_cx_connect_ms', 'upstream_cx_length_ms'],
    'upstream_rq_time',
  ],
} as const;

const BUCKETS = LATENCY_BOUNDS.map((bound, index): [number, number] => [bound, Math.min(index, 9)]);
const EMPTY = LATENCY_BOUNDS.map((bound): [number, number] => [bound, 0]);

/** Statistics in one message, as the bootstrap asks. */
const BATCH = 1_000;

export type SimulatedProxy = {
  readonly id: string;
  readonly group: string;
  /** Numbers of the Mappings that it has routes and clusters of. */
  readonly mappings: readonly number[];
  /** Whether its routes are those of Mappings. */
  readonly isEdge: boolean;
};

/** Returns the messages of one flush of a proxy all of whose routes and clusters are in use. */
export function pushOf({ id, group, isEdge, mappings }: SimulatedProxy): readonly Buffer[] {
  const families = [
    counter(`http.${group}.downstream_rq_completed`, 9),
    counter(`http.${group}.downstream_rq_2xx`, 9),
    histogram(`http.${group}.downstream_rq_time`, 9, BUCKETS),
    ...mappings.flatMap(number => [
      ...(isEdge ? routeFamilies(number) : []),
      ...clusterFamilies(clusterName(number)),
    ]),
  ];
  const messages: Buffer[] = [];
  for (let at = 0; at < families.length; at += BATCH)
    messages.push(metricsMessage(families.slice(at, at + BATCH), { id, cluster: group }));
  return messages;
}

export function clusterName(number: number): string {
  return `service-${number}.shop`;
}

function routeFamilies(number: number): readonly object[] {
  const route = `envoy_route.Mapping/default/m${number}`;
  return [
    counter(`route.requests.${route}.envoy_response_code.200`, 9),
    histogram(`route.request_time.${route}`, 9, BUCKETS),
  ];
}

function clusterFamilies(cluster: string): readonly object[] {
  const start = `cluster.${cluster}`;
  return [
    ...CLUSTER.counted.map(name => counter(`${start}.${name}`, 9)),
    ...CLUSTER.idle.map(name => counter(`${start}.${name}`, 0)),
    ...CLUSTER.gauges.map(name => gauge(`${start}.${name}`, 1)),
    ...CLUSTER.histograms.map(name => histogram(`${start}.${name}`, 0, EMPTY)),
  ];
}
