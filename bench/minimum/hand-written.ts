import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import type { JsonObject } from '#protos/json.ts';
import { extension, HTTP2, plainCluster, plainListener } from '../plain-envoy.ts';

/** The ports of what it asks, all on the loopback. */
export type Asked = {
  readonly extAuthz: number;
  readonly rateLimit: number;
  readonly service: number;
};

const NAME = 'minimum';
const EXT_AUTHZ = 'filters.http.ext_authz.v3.ExtAuthz';

/** A virtual host, and what is asked about its requests. */
type Way = { readonly host: string; readonly login: boolean; readonly limit: boolean };

/** So that a busy machine does not leave out what is measured. */
const TIMEOUT = '5s';
const FILTERS: readonly JsonObject[] = [
  extension(EXT_AUTHZ, {
    transport_api_version: 'V3',
    encode_raw_headers: true,
    grpc_service: asking('ext-authz'),
  }),
  extension('filters.http.ratelimit.v3.RateLimit', {
    domain: 'gateway',
    timeout: TIMEOUT,
    failure_mode_deny: true,
    rate_limit_service: { transport_api_version: 'V3', grpc_service: asking('rate-limit') },
  }),
];
const ACCESS_LOG = extension('access_loggers.file.v3.FileAccessLog', { path: '/dev/null' });

/**
 * Starts an Envoy with one worker that does what Envoy's own documents show for a proxy with
 * ext_authz and a rate limit. Beyond that it sends raw headers, which ext-authz needs, and has long
 * timeouts. It logs each request in Envoy's own format. A request that is not decided fails.
 */
export async function startMinimum(
  ways: readonly Way[],
  asked: Asked,
): Promise<{ readonly envoy: EnvoyProcess; readonly port: number }> {
  const listener = plainListener({
    name: NAME,
    virtualHosts: ways.map(virtualHost),
    filters: FILTERS,
    manager: { access_log: [ACCESS_LOG] },
  });
  const envoy = await startEnvoy({
    static_resources: {
      listeners: [listener],
      clusters: [
        plainCluster('service', asked.service),
        plainCluster('ext-authz', asked.extAuthz, HTTP2),
        plainCluster('rate-limit', asked.rateLimit, HTTP2),
      ],
    },
  });
  return { envoy, port: await envoy.listenerPort(NAME) };
}

function virtualHost({ host, limit, login }: Way): JsonObject {
  const rate_limits = [{ actions: [{ generic_key: { descriptor_value: 'site' } }] }];
  const { typed_config } = extension('filters.http.ext_authz.v3.ExtAuthzPerRoute', {
    disabled: true,
  });
  return {
    name: host,
    domains: [host],
    routes: [
      {
        match: { prefix: '/site/' },
        route: { cluster: 'service', prefix_rewrite: '/', ...(limit ? { rate_limits } : {}) },
        ...(login ? {} : { typed_per_filter_config: { [EXT_AUTHZ]: typed_config } }),
      },
    ],
  };
}

function asking(cluster_name: string): JsonObject {
  return { envoy_grpc: { cluster_name }, timeout: TIMEOUT };
}
