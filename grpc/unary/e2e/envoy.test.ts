import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { until } from '#envoy/e2e/until.ts';
import { serveEcho } from '../testing/echo-server.ts';

const SERVICE = 'envoy.service.ratelimit.v3.RateLimitService';
const PROTOCOL = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/** Returns a cluster whose one endpoint is asked for its health every 50 ms. */
function watched(port: number, http2_protocol_options: object = {}): object {
  return {
    name: 'service',
    type: 'STATIC',
    load_assignment: {
      cluster_name: 'service',
      endpoints: [
        {
          lb_endpoints: [
            {
              endpoint: { address: { socket_address: { address: '127.0.0.1', port_value: port } } },
            },
          ],
        },
      ],
    },
    health_checks: [
      {
        timeout: '1s',
        interval: '0.05s',
        no_traffic_interval: '0.05s',
        unhealthy_interval: '0.05s',
        unhealthy_threshold: 1,
        healthy_threshold: 1,
        grpc_health_check: { service_name: SERVICE },
      },
    ],
    typed_extension_protocol_options: {
      [PROTOCOL]: {
        '@type': `type.googleapis.com/${PROTOCOL}`,
        explicit_http_config: { http2_protocol_options },
      },
    },
  };
}

async function healthIs(envoy: EnvoyProcess, healthy: boolean): Promise<void> {
  const flag = /service::127\.0\.0\.1:\d+::health_flags::(.*)/;
  await until(async () => {
    const [, flags] = flag.exec(await envoy.get('/clusters')) ?? [];
    return flags === (healthy ? 'healthy' : '/failed_active_hc') || undefined;
  });
}

async function hasNoErrors(envoy: EnvoyProcess): Promise<void> {
  const stats = await envoy.get('/stats?filter=cluster.service.http2.rx_messaging_error');
  assert.match(stats, /: 0$/m);
}

test("Envoy's gRPC health check follows setServing, and the end of the server", async t => {
  const server = await serveEcho(t);
  server.setServing(true);
  const envoy = await startEnvoy({ static_resources: { clusters: [watched(server.port)] } });
  t.after(() => envoy.stop());
  await healthIs(envoy, true);
  server.setServing(false);
  await healthIs(envoy, false);
  server.setServing(true);
  await healthIs(envoy, true);
  await server.stop(1_000);
  await healthIs(envoy, false);
  await hasNoErrors(envoy);
});

test('Envoy that keeps no table of header fields is answered', async t => {
  const server = await serveEcho(t);
  server.setServing(true);
  const clusters = [watched(server.port, { hpack_table_size: 0 })];
  const envoy = await startEnvoy({ static_resources: { clusters } });
  t.after(() => envoy.stop());
  await healthIs(envoy, true);
  await hasNoErrors(envoy);
});
