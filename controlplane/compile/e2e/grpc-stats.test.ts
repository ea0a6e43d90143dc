import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';

const GRPC = { method: 'POST', headers: { 'content-type': 'application/grpc' } };

let service: http2.Http2Server;
let envoy: CompiledEnvoy;

before(async () => {
  service = http2.createServer().on('stream', stream => {
    const answer = { ':status': 200, 'content-type': 'application/grpc' };
    stream.respond(answer, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '13' }));
    stream.end('message');
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const { port } = service.address() as AddressInfo;
  const mapping = (name: string, service: string) =>
    `---\napiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: { name: ${name} }\nspec: { prefix: /${name}/, rewrite: "", service: "${service}", grpc: true }\n`;
  envoy = await startCompiled(
    [mapping('orders', `localhost:${port}`), mapping('down', '127.0.0.1:1')].join(''),
  );
});
after(async () => {
  await envoy.stop();
  service.close();
});

test('calls are counted by their status, whoever gave it, and no name of a method is', async () => {
  for (const method of ['A', 'Secret', 'Secret']) await envoy.ask(`/orders/${method}`, GRPC);
  await envoy.ask('/orders/page');
  await envoy.ask('/down/C', GRPC);
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
