import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';

/** A request that the shadow got. */
type Copy = {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly hidden: unknown;
  readonly body: string;
};

const copies: Copy[] = [];

/** It answers 500, or never. */
const shadow = createServer(async (request, response) => {
  const { headers, method = '', url: path = '' } = request;
  copies.push({
    method,
    path,
    host: headers.host ?? '',
    hidden: headers['x-hidden'],
    body: await text(request),
  });
  if (path !== '/silent') response.writeHead(500).end('nobody reads this');
});

let service: Awaited<ReturnType<typeof startEchoServer>>;
let envoy: CompiledEnvoy;

const mapping = (name: string, spec: string) =>
  `---\napiVersion: getambassador.io/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

before(async () => {
  service = await startEchoServer('service');
  await once(shadow.listen(0, '127.0.0.1'), 'listening');
  const copy = `service: '127.0.0.1:${(shadow.address() as AddressInfo).port}', shadow: true`;
  envoy = await startCompiled(
    [
      mapping(
        'all',
        `prefix: /all/, service: '${service.address}', remove_request_headers: [x-hidden]`,
      ),
      mapping('all-shadow', `prefix: /all/, ${copy}`),
      mapping('none', `prefix: /none/, service: '${service.address}'`),
      mapping('none-shadow', `prefix: /none/, weight: 0, ${copy}`),
      mapping('down', `prefix: /down/, service: '${service.address}'`),
      mapping('down-shadow', "prefix: /down/, service: '127.0.0.1:1', shadow: true"),
      mapping('alone', `prefix: /all/alone/, ${copy}`),
      mapping('refused', `prefix: /all/refused/, remove_request_headers: [x-a], ${copy}`),
    ].join(''),
  );
});

after(async () => {
  await envoy.stop();
  shadow.close();
  shadow.closeAllConnections();
  await service.close();
});

async function copyOf(path: string): Promise<Copy> {
  return await until(() => copies.find(copy => copy.path === path));
}

test('the shadow gets a copy as the service gets the request, and the service answers', async () => {
  const asked = {
    method: 'POST',
    host: 'shop.example',
    headers: { 'x-hidden': 'a' },
    body: 'hello',
  };
  const answer = await envoy.ask('/all/x?a=1', asked);
  assert.equal(answer.status, 200);
  assert.equal((JSON.parse(answer.body) as { server: string }).server, 'service');
  const copy = {
    method: 'POST',
    path: '/x?a=1',
    host: 'shop.example-shadow',
    hidden: undefined,
    body: 'hello',
  };
  assert.deepEqual(await copyOf('/x?a=1'), copy);
});

test('a large body is copied whole', async () => {
  const body = 'x'.repeat(1_000_000);
  assert.equal((await envoy.ask('/all/large', { method: 'POST', body })).status, 200);
  assert.equal((await copyOf('/large')).body.length, body.length);
});

test('a shadow that never answers keeps nobody waiting', async () => {
  assert.equal((await envoy.ask('/all/silent')).status, 200);
  assert.equal((await copyOf('/silent')).path, '/silent');
});

test('a shadow that is not there disturbs nobody', async () => {
  for (let index = 0; index < 10; index += 1)
    assert.equal((await envoy.ask('/down/x')).status, 200);
});

test('a shadow gets so many percent of the requests as its weight says', async () => {
  for (let index = 0; index < 20; index += 1)
    assert.equal((await envoy.ask('/none/none')).status, 200);
  await envoy.ask('/all/last');
  await copyOf('/last');
  assert.ok(!copies.some(({ path }) => path === '/none'));
});

test('a shadow alone serves nothing and closes nothing, also when it is refused', async () => {
  assert.equal((await envoy.echo('/all/alone/x')).path, '/alone/x');
  assert.equal((await envoy.echo('/all/refused/x')).path, '/refused/x');
});
