import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { type FailingServer, startFailingServer } from './failing-server.ts';

let service: FailingServer;
let envoy: CompiledEnvoy;

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: getambassador.io/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

before(async () => {
  service = await startFailingServer();
  const to = `service: '${service.address}'`;
  envoy = await startCompiled(
    [
      document(
        'Module',
        'ambassador',
        `{config: {cors: {origins: '*'}, retry_policy: {retry_on: 5xx, num_retries: 2}, server_name: Shop, listener_idle_timeout_ms: 300}}`,
      ),
      document('Mapping', 'default', `{prefix: /default/, ${to}}`),
      document(
        'Mapping',
        'own',
        `{prefix: /own/, ${to}, cors: {}, retry_policy: {num_retries: 0}}`,
      ),
    ].join(''),
  );
});

after(async () => {
  await envoy.stop();
  await service.close();
});

for (const [path, tries, origin] of [
  ['/default/503', 3, 'https://a.example'],
  ['/own/503', 1, undefined],
] as const) {
  test(`${path} is asked ${tries} times, and may be read by ${origin ?? 'no other origin'}`, async () => {
    service.asked();
    const { headers } = await envoy.ask(path, { headers: { origin: 'https://a.example' } });
    assert.equal(headers['access-control-allow-origin'], origin);
    assert.equal(headers.server, 'Shop');
    assert.equal(service.asked().length, tries);
  });
}

test('a connection of a client ends when it is idle', async () => {
  const socket = net.connect(envoy.port, '127.0.0.1').resume();
  await once(socket, 'connect');
  await once(socket, 'close');
});
