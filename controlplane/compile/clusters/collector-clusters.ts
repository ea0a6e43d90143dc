import { isJsonObject, type JsonObject } from '#protos/json.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type CompileOptions, DEFAULT_CA_FILE } from '../options.ts';
import { toCluster } from './cluster.ts';
import type { NamedCluster } from './cluster-names.ts';
import { membersOf } from './members.ts';
import { LOG_CLUSTER, TRACING_CLUSTER } from './reserved-clusters.ts';
import { upstreamTls } from './upstream-tls.ts';

/** Short, so that a dead address is noticed soon. */
const CONNECT_TIMEOUT_MS = 1000;

/**
 * A collector that leaves calls without an answer would hold all that a cluster may have at once,
 * and Envoy would send nothing more. Its drivers for OTLP end none of their calls themselves, also
 * not after the `timeout` of their `grpc_service` [measured].
 */
const EXPORT_MS = 5_000;

/**
 * A call by gRPC fails with status 200, so Envoy's counts of answers do not tell it from one that
 * succeeds. This counts each that fails, and takes no instance out. Of statuses of gRPC Envoy
 * leaves out those that stand for 400 to 499, such as PERMISSION_DENIED [measured].
 */
const COUNT_FAILURES: JsonObject = { consecutive_5xx: 1, enforcing_consecutive_5xx: 0 };
/** Of calls without gRPC those count too that a collector answers with 400 to 499. */
const FAILURES: JsonObject = {
  http_response_headers_match: {
    headers: [{ name: ':status', range_match: { start: '400', end: '1000' } }],
  },
};
/** Envoy's default would take out instances by comparison. */
const NEVER_OUT: JsonObject = { enforcing_success_rate: 0 };

/** Returns Envoy's `Cluster` of each service that gets spans or access logs. */
export function collectorClusters(
  { logServices: [log], tracingServices: [tracing] }: ResourceSet,
  options: CompileOptions,
): readonly NamedCluster[] {
  return [
    ...(tracing === undefined ? [] : [clusterOf(TRACING_CLUSTER, tracing, options)]),
    ...(log === undefined ? [] : [clusterOf(LOG_CLUSTER, log, options)]),
  ];
}

function clusterOf(
  name: string,
  { id, spec }: Resource<'LogService' | 'TracingService'>,
  { caFile = DEFAULT_CA_FILE }: CompileOptions,
): NamedCluster {
  const { host, port, scheme } = spec.service;
  const isHttp1 = spec.driver === 'zipkin';
  const members = membersOf(name, { host, port });
  const detection = isJsonObject(members.outlier_detection) ? members.outlier_detection : NEVER_OUT;
  const json: JsonObject = toCluster(name, {
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    members: { ...members, outlier_detection: { ...detection, ...COUNT_FAILURES } },
    protocol: isHttp1 ? 'http1' : 'http2',
    ...(isHttp1 ? { failures: FAILURES } : {}),
    ...(spec.driver === 'opentelemetry' ? { longestStreamMs: EXPORT_MS } : {}),
    ...(scheme === 'https'
      ? { transportSocket: upstreamTls(host, caFile, isHttp1 ? 'http/1.1' : 'h2') }
      : {}),
  });
  const named = spec.stats_name === undefined ? json : { ...json, alt_stat_name: spec.stats_name };
  return { name, json: named, origins: [id] };
}
