import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { DOMAIN } from './limits.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';

/**
 * Starts an Envoy with one worker that asks the service for each request. It sends the request on
 * to a second listener of its own that answers 200. Each request has `descriptors` descriptors of
 * two labels, spread over the first `limits` limits. With `undefined` it asks no service.
 */
export async function startEdge(
  service: number | undefined,
  descriptors: number,
  limits: number,
): Promise<{ readonly envoy: EnvoyProcess; readonly port: number }> {
  const envoy = await startEnvoy({
    static_resources: {
      listeners: [
        listener(
          'edge',
          edgeRoute(descriptors, limits),
          service === undefined ? [] : [rateLimit()],
        ),
        listener('upstream', { match: { prefix: '/' }, direct_response: { status: 200 } }, []),
      ],
      clusters: [
        cluster('upstream', UPSTREAM_PORT, {}),
        ...(service === undefined ? [] : [cluster('service', service, HTTP2)]),
      ],
    },
  });
  return { envoy, port: await envoy.listenerPort('edge') };
}

/** Below the ephemeral ports, so that no other process has it by chance. */
const UPSTREAM_PORT = 21_980;

const HTTP2 = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': `${TYPE}.upstreams.http.v3.HttpProtocolOptions`,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

function edgeRoute(descriptors: number, limits: number): object {
  const rate_limits = Array.from({ length: descriptors }, (_, n) => ({
    actions: [
      { generic_key: { descriptor_value: `limit-${n % limits}` } },
      { generic_key: { descriptor_key: 'n', descriptor_value: String(n) } },
    ],
  }));
  return { match: { prefix: '/' }, route: { cluster: 'upstream', rate_limits } };
}

function rateLimit(): object {
  return {
    name: 'envoy.filters.http.ratelimit',
    typed_config: {
      '@type': `${TYPE}.filters.http.ratelimit.v3.RateLimit`,
      domain: DOMAIN,
      timeout: '1s',
      failure_mode_deny: true,
      rate_limit_service: {
        transport_api_version: 'V3',
        grpc_service: { envoy_grpc: { cluster_name: 'service' } },
      },
    },
  };
}

function listener(name: string, route: object, filters: readonly object[]): object {
  const manager = {
    '@type': `${TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: name,
    route_config: { virtual_hosts: [{ name, domains: ['*'], routes: [route] }] },
    http_filters: [
      ...filters,
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': `${TYPE}.filters.http.router.v3.Router` },
      },
    ],
  };
  const port = name === 'upstream' ? UPSTREAM_PORT : 0;
  return {
    name,
    address: address(port),
    filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
  };
}

function cluster(name: string, port: number, options: object): object {
  return {
    name,
    type: 'STATIC',
    connect_timeout: '1s',
    circuit_breakers: { thresholds: [{ max_requests: 10_000, max_pending_requests: 10_000 }] },
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
    },
    ...options,
  };
}

function address(port: number): object {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}
