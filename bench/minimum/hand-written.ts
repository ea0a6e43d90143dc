import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import type { JsonObject } from '#protos/json.ts';

/** The ports of what it asks, all on the loopback. */
export type Asked = {
  readonly extAuthz: number;
  readonly rateLimit: number;
  readonly service: number;
};

const TYPE = 'type.googleapis.com/envoy.extensions';
const NAME = 'minimum';
const EXT_AUTHZ = 'envoy.filters.http.ext_authz';

/** A virtual host, and what is asked about its requests. */
type Way = { readonly host: string; readonly login: boolean; readonly limit: boolean };

/**
 * Starts an Envoy with one worker that does what Envoy's own documents show for a proxy with
 * ext_authz and a rate limit. Beyond that it sends raw headers, which ext-authz needs, and has long
 * timeouts. It logs each request in Envoy's own format. A request that is not decided fails.
 */
export async function startMinimum(
  ways: readonly Way[],
  asked: Asked,
): Promise<{ readonly envoy: EnvoyProcess; readonly port: number }> {
  const envoy = await startEnvoy({
    static_resources: {
      listeners: [listener(ways)],
      clusters: [
        cluster('service', asked.service),
        cluster('ext-authz', asked.extAuthz, HTTP2),
        cluster('rate-limit', asked.rateLimit, HTTP2),
      ],
    },
  });
  return { envoy, port: await envoy.listenerPort(NAME) };
}

function listener(ways: readonly Way[]): JsonObject {
  const manager = {
    '@type': `${TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: NAME,
    access_log: [filter('file', 'access_loggers.file.v3.FileAccessLog', { path: '/dev/null' })],
    route_config: { virtual_hosts: ways.map(virtualHost) },
    http_filters: [
      filter(EXT_AUTHZ, 'filters.http.ext_authz.v3.ExtAuthz', {
        transport_api_version: 'V3',
        encode_raw_headers: true,
        grpc_service: asking('ext-authz'),
      }),
      filter('envoy.filters.http.ratelimit', 'filters.http.ratelimit.v3.RateLimit', {
        domain: 'gateway',
        timeout: TIMEOUT,
        failure_mode_deny: true,
        rate_limit_service: {
          transport_api_version: 'V3',
          grpc_service: asking('rate-limit'),
        },
      }),
      filter('envoy.filters.http.router', 'filters.http.router.v3.Router', {}),
    ],
  };
  return {
    name: NAME,
    address: address(0),
    filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
  };
}

function virtualHost({ host, limit, login }: Way): JsonObject {
  const rate_limits = [{ actions: [{ generic_key: { descriptor_value: 'site' } }] }];
  const disabled = {
    '@type': `${TYPE}.filters.http.ext_authz.v3.ExtAuthzPerRoute`,
    disabled: true,
  };
  return {
    name: host,
    domains: [host],
    routes: [
      {
        match: { prefix: '/site/' },
        route: { cluster: 'service', prefix_rewrite: '/', ...(limit ? { rate_limits } : {}) },
        ...(login ? {} : { typed_per_filter_config: { [EXT_AUTHZ]: disabled } }),
      },
    ],
  };
}

/** So that a busy machine does not leave out what is measured. */
const TIMEOUT = '5s';

function asking(cluster_name: string): JsonObject {
  return { envoy_grpc: { cluster_name }, timeout: TIMEOUT };
}

function filter(name: string, type: string, options: JsonObject): JsonObject {
  return { name, typed_config: { '@type': `${TYPE}.${type}`, ...options } };
}

const HTTP2: JsonObject = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': `${TYPE}.upstreams.http.v3.HttpProtocolOptions`,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

function cluster(name: string, port: number, options: JsonObject = {}): JsonObject {
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
