import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { LoadBalancer } from '#resources/traffic/load-balancer.ts';
import { toDuration } from '../duration.ts';
import { circuitBreakers } from './circuit-breakers.ts';
import { outlierDetection } from './outlier-detection.ts';

const FIELDS = [
  'load_balancer',
  'circuit_breakers',
  'priority',
  'cluster_idle_timeout_ms',
  'cluster_max_connection_lifetime_ms',
  'enable_ipv4',
  'enable_ipv6',
  'respect_dns_ttl',
  'grpc',
  'keepalive',
  'health_checks',
  'outlier_detection',
] as const;

/** Settings of a Mapping for the use of its cluster. */
export type ClusterTraffic = Partial<
  Pick<MappingSpec, (typeof FIELDS)[number] | 'shadow' | 'timeout_ms'>
>;

type Field = (typeof FIELDS)[number];

/** Returns its fields that differ from the default. */
export function trafficFields(traffic: ClusterTraffic): readonly Field[] {
  const written = FIELDS.filter(field => traffic[field] !== undefined);
  return written.filter(field => MEANING[field](traffic) !== MEANING[field]({}));
}

/**
 * Returns a key that is equal for Mappings with the same use of a cluster. It is empty for the
 * default.
 */
export function trafficKey(traffic: ClusterTraffic): string {
  const longest = copyTime(traffic);
  const copies = longest === 0 ? '' : ` copies=${longest}`;
  const fields = trafficFields(traffic).map(field => ` ${field}=${MEANING[field](traffic)}`);
  return fields.join('') + copies;
}

/** Each field in one spelling, which depends on this field alone. */
const MEANING: Readonly<Record<Field, (traffic: ClusterTraffic) => string>> = {
  load_balancer: ({ load_balancer }) => lbPolicy(load_balancer),
  circuit_breakers: ({ circuit_breakers }) => JSON.stringify(circuitBreakers(circuit_breakers)),
  priority: ({ priority = 'default' }) => priority,
  cluster_idle_timeout_ms: ({ cluster_idle_timeout_ms: idle }) => `${idle}`,
  cluster_max_connection_lifetime_ms: ({ cluster_max_connection_lifetime_ms: lifetime = 0 }) =>
    `${lifetime}`,
  enable_ipv4: ({ enable_ipv4 = true }) => `${enable_ipv4}`,
  enable_ipv6: ({ enable_ipv6 }) => `${enable_ipv6}`,
  respect_dns_ttl: ({ respect_dns_ttl = false }) => `${respect_dns_ttl}`,
  grpc: ({ grpc = false }) => `${grpc}`,
  keepalive: traffic => JSON.stringify(tcpKeepalive(traffic)),
  health_checks: ({ health_checks = [] }) => JSON.stringify(health_checks),
  outlier_detection: ({ outlier_detection = {} }) =>
    JSON.stringify(outlierDetection(outlier_detection)),
};

const LB_POLICIES = {
  round_robin: 'ROUND_ROBIN',
  least_request: 'LEAST_REQUEST',
  ring_hash: 'RING_HASH',
  maglev: 'MAGLEV',
} as const satisfies Record<LoadBalancer['policy'], string>;

/** Returns Envoy's name for how a cluster chooses its instances. */
export function lbPolicy(balancer: LoadBalancer | undefined): string {
  return LB_POLICIES[balancer?.policy ?? 'round_robin'];
}

/**
 * Returns the part of Envoy's `HttpProtocolOptions` about connections. `idle_timeout` is that of
 * the cluster's protocol, and `longest` that of its streams, in ms. 0 means no limit.
 */
export function connectionTimes(
  traffic: ClusterTraffic,
  idle_timeout?: string,
  longest = copyTime(traffic),
): JsonObject {
  const { cluster_idle_timeout_ms: idle, cluster_max_connection_lifetime_ms: lifetime = 0 } =
    traffic;
  const times = {
    ...(idle_timeout === undefined ? {} : { idle_timeout }),
    ...(idle === undefined ? {} : { idle_timeout: toDuration(idle) }),
    ...(lifetime === 0 ? {} : { max_connection_duration: toDuration(lifetime) }),
    ...(longest === 0 ? {} : { max_stream_duration: toDuration(longest) }),
  };
  return Object.keys(times).length === 0 ? {} : { common_http_protocol_options: times };
}

/**
 * Returns how long a copy may take, in ms. No client waits for its answer and would end it. 0 means
 * no limit.
 */
function copyTime({ shadow = false, timeout_ms = 0 }: ClusterTraffic): number {
  return shadow ? timeout_ms : 0;
}

/**
 * Returns the part of Envoy's `Cluster` about TCP keepalive. By default a dead idle connection ends
 * after 20 s.
 */
export function tcpKeepalive({ keepalive = {} }: ClusterTraffic): JsonObject {
  const { time = 10, interval = 5, probes = 2 } = keepalive;
  return {
    upstream_connection_options: {
      tcp_keepalive: {
        keepalive_probes: probes,
        keepalive_time: time,
        keepalive_interval: interval,
      },
    },
  };
}
