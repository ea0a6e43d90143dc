import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { GRPC_CALL, type GrpcStatuses, startGrpcStatuses } from '#envoy/e2e/grpc-statuses.ts';
import { until } from '#envoy/e2e/until.ts';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';

let service: GrpcStatuses;
let envoy: CompiledEnvoy;

before(async () => {
  service = await startGrpcStatuses();
  const mapping = (name: string, service: string) =>
    `---\napiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: { name: ${name} }\nspec: { prefix: /${name}/, rewrite: "", service: "${service}", grpc: true }\n`;
  envoy = await startCompiled(
    [mapping('orders', `localhost:${service.port}`), mapping('down', '127.0.0.1:1')].join(''),
  );
});
after(async () => {
  await envoy.stop();
  service.stop();
});

test('calls are counted by their status, whoever gave it, and no name of a method is', async () => {
  for (const method of ['A13', 'Secret13', 'Secret13'])
    await envoy.ask(`/orders/${method}`, GRPC_CALL);
  await envoy.ask('/orders/page');
  await envoy.ask('/down/C', GRPC_CALL);
  const stats = await until(async () => {
    const text = await envoy.get('/stats/prometheus?filter=grpc');
    return text.includes('envoy_cluster_grpc_14{') ? text : undefined;
  });
  const counted = (status: string, cluster: string) =>
    new RegExp(`envoy_cluster_grpc_${status}\\{.*"${cluster}.*\\} (\\d+)`).exec(stats)?.[1];
  assert.deepEqual(
    [counted('13', 'localhost'), counted('total', 'localhost'), counted('14', '127_0_0_1_1')],
    ['3', '3', '1'],
  );
  assert.ok(!stats.includes('Secret'));
});
