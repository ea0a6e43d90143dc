import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import type { JsonObject } from '#protos/json.ts';
import { anyHost, extension, HTTP2, plainCluster, plainListener } from '../plain-envoy.ts';
import { DOMAIN } from './limits.ts';

/** Below the ephemeral ports, so that no other process has it by chance. */
const UPSTREAM_PORT = 21_980;
const CLUSTER: JsonObject = {
  connect_timeout: '1s',
  circuit_breakers: { thresholds: [{ max_requests: 10_000, max_pending_requests: 10_000 }] },
};
const RATE_LIMIT = extension('filters.http.ratelimit.v3.RateLimit', {
  domain: DOMAIN,
  timeout: '1s',
  failure_mode_deny: true,
  rate_limit_service: {
    transport_api_version: 'V3',
    grpc_service: { envoy_grpc: { cluster_name: 'service' } },
  },
});
const UPSTREAM = plainListener({
  name: 'upstream',
  port: UPSTREAM_PORT,
  virtualHosts: [anyHost('upstream', { direct_response: { status: 200 } })],
  filters: [],
});

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
  const edge = plainListener({
    name: 'edge',
    virtualHosts: [anyHost('edge', edgeRoute(descriptors, limits))],
    filters: service === undefined ? [] : [RATE_LIMIT],
  });
  const asked =
    service === undefined ? [] : [plainCluster('service', service, { ...CLUSTER, ...HTTP2 })];
  const clusters = [plainCluster('upstream', UPSTREAM_PORT, CLUSTER), ...asked];
  const envoy = await startEnvoy({ static_resources: { listeners: [edge, UPSTREAM], clusters } });
  return { envoy, port: await envoy.listenerPort('edge') };
}

function edgeRoute(descriptors: number, limits: number) {
  const rate_limits = Array.from({ length: descriptors }, (_, n) => ({
    actions: [
      { generic_key: { descriptor_value: `limit-${n % limits}` } },
      { generic_key: { descriptor_key: 'n', descriptor_value: String(n) } },
    ],
  }));
  return { route: { cluster: 'upstream', rate_limits } };
}
