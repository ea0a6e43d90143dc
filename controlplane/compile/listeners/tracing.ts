import { formatHostPort } from '#grpc/host-port.ts';
import type { JsonObject } from '#protos/json.ts';
import type {
  CustomTag,
  TracingServiceSpec,
} from '#resources/kinds/tracing-service/tracing-service-spec.ts';
import { isPathHeader } from '#resources/words/told-header.ts';
import { TRACING_CLUSTER } from '../clusters/reserved-clusters.ts';
import { EDGE } from '../node-groups.ts';
import { toldText } from './told-text.ts';

/** The path without its query, in which tokens may stand. */
const PATH = '%PATH(NQ)%';

/**
 * Those of Envoy's names replace its own. Its `grpc.path` holds the query, and a client says what
 * is gRPC. The other two hold whatever bytes a client sends.
 */
const OUR_TAGS: readonly JsonObject[] = [
  { tag: 'url.path', value: PATH },
  { tag: 'grpc.path', value: PATH },
  { tag: 'attempts', value: '%UPSTREAM_REQUEST_ATTEMPT_COUNT%' },
  { tag: 'user_agent', value: toldText('request.headers', 'user-agent', { most: 500 }) },
  { tag: 'guid:x-client-trace-id', value: toldText('request.headers', 'x-client-trace-id') },
];

/**
 * The headers by which a trace goes on, of W3C and of Zipkin. A client that may set them chooses
 * what is traced.
 */
const TRACE_HEADERS: readonly string[] = [
  'b3',
  'traceparent',
  'tracestate',
  'x-b3-flags',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'x-b3-spanid',
  'x-b3-traceid',
];

/** Returns the headers of clients that the edge removes, in lower case and sorted. */
export function removedTraceHeaders(spec: TracingServiceSpec | undefined): readonly string[] {
  return spec === undefined || spec.continue_client_traces ? [] : TRACE_HEADERS;
}

/** Returns the part of Envoy's `HttpConnectionManager` that says which requests are traced. */
export function tracing(group: string, spec: TracingServiceSpec | undefined): JsonObject {
  if (spec === undefined) return {};
  const { client, overall, random } = spec.sampling;
  return {
    tracing: {
      client_sampling: { value: client },
      random_sampling: { value: random },
      overall_sampling: { value: overall },
      // Envoy's tag `http.url` would hold the query.
      max_path_tag_length: 0,
      custom_tags: [...OUR_TAGS, ...tagsOf(spec).map(toTag)],
      // Envoy makes these spans before it drops those that sampling does not keep
      // (bench/results/traces.md).
      spawn_upstream_span: spec.spawn_upstream_span,
      // The Mapping. What clients send would be a name of its own each time.
      operation: '%ROUTE_NAME%',
      provider: spec.driver === 'zipkin' ? zipkin(spec) : openTelemetry(group, spec),
    },
  };
}

function openTelemetry(group: string, { config }: TracingServiceSpec): JsonObject {
  const own = group === EDGE ? config.service_name : undefined;
  return {
    name: 'envoy.tracers.opentelemetry',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.config.trace.v3.OpenTelemetryConfig',
      grpc_service: { envoy_grpc: { cluster_name: TRACING_CLUSTER } },
      service_name: own ?? group,
    },
  };
}

/** Our services and most others know W3C's headers, so spans go on by them too. */
function zipkin({ config, service, spawn_upstream_span }: TracingServiceSpec): JsonObject {
  return {
    name: 'envoy.tracers.zipkin',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.config.trace.v3.ZipkinConfig',
      collector_cluster: TRACING_CLUSTER,
      collector_endpoint: config.collector_endpoint,
      collector_endpoint_version: config.collector_endpoint_version,
      collector_hostname: config.collector_hostname ?? formatHostPort(service),
      trace_id_128bit: config.trace_id_128bit,
      // A proxy would take over the span of the proxy before, and both would have one id.
      shared_span_context: spawn_upstream_span && config.shared_span_context,
      trace_context_option: 'USE_B3_WITH_W3C_PROPAGATION',
    },
  };
}

function tagsOf({ custom_tags, tag_headers = [] }: TracingServiceSpec): readonly CustomTag[] {
  return custom_tags ?? tag_headers.map(name => ({ tag: name, request_header: { name } }));
}

function toTag({ environment, literal, request_header, tag }: CustomTag): JsonObject {
  if (literal !== undefined) return { tag, literal: { ...literal } };
  if (environment !== undefined) return { tag, environment: { ...environment } };
  if (request_header === undefined) return { tag, literal: { value: '-' } };
  return isPathHeader(request_header.name)
    ? { tag, value: PATH }
    : {
        tag,
        value: toldText('request.headers', request_header.name, {
          otherwise: request_header.default_value,
        }),
      };
}
