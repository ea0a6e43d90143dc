import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { freePort } from '#grpc/testing/free-port.ts';
import type { JsonObject } from '#protos/json.ts';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';
import { GATEWAY_EDGE, withPorts } from './gateway-ports.ts';
import { withInstances } from './with-instances.ts';

const object = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.networking.k8s.io/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const RESOURCES = [
  object('GatewayClass', 'gateway', 'controllerName: gateway.internal/gateway-controller'),
  object(
    'Gateway',
    'site',
    'gatewayClassName: gateway, listeners: [{name: tcp, port: 8000, protocol: TCP}]',
  ),
  object(
    'TCPRoute',
    'pair',
    'parentRefs: [{name: site}], rules: [{backendRefs: [{name: pair, port: 80}]}]',
  ),
].join('');

let living: Awaited<ReturnType<typeof startEchoServer>>;
let envoy: CompiledEnvoy;

before(async () => {
  living = await startEchoServer('living');
  const dead = `127.0.0.1:${await freePort()}`;
  const change = (bootstrap: JsonObject) =>
    withPorts(withInstances(['Service/default/pair:80', dead])(bootstrap), {
      pair: living.address,
    });
  envoy = await startCompiled(RESOURCES, 'edge', change, undefined, { edge: GATEWAY_EDGE });
});

after(async () => {
  await envoy.stop();
  await living.close();
});

test('a connection for an instance that does not listen is given to another one', async () => {
  for (let asked = 0; asked < 10; asked += 1)
    assert.equal((await envoy.ask('/', { headers: { connection: 'close' } })).status, 200);
  assert.match(await envoy.get('/stats?filter=pair.*upstream_cx_connect_fail$'), /: [1-9]/);
});
