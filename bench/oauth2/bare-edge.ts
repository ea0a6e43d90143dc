import { startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { anyHost, extension, HTTP2, plainCluster, plainListener } from '../plain-envoy.ts';
import type { Edge } from './edge.ts';

const NAME = 'bare';

const EXT_AUTHZ = extension('filters.http.ext_authz.v3.ExtAuthz', {
  transport_api_version: 'V3',
  grpc_service: { envoy_grpc: { cluster_name: NAME } },
});

/**
 * Starts an Envoy with one worker that answers 200 itself and has no optional setting. What is left
 * is Envoy's own cost. Checks go to the service at this port. With `undefined` it has no filter but
 * its router.
 */
export async function startBareEdge(service: number | undefined): Promise<Edge> {
  const virtualHosts = [anyHost(NAME, { direct_response: { status: 200 } })];
  const filters = service === undefined ? [] : [EXT_AUTHZ];
  const clusters = service === undefined ? [] : [plainCluster(NAME, service, HTTP2)];
  const envoy = await startEnvoy({
    static_resources: {
      listeners: [plainListener({ name: NAME, virtualHosts, filters })],
      clusters,
    },
  });
  return { envoy, port: await envoy.listenerPort(NAME) };
}
