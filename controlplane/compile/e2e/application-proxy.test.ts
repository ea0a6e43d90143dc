import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { bootstrap } from '#envoy/bootstrap.ts';
import { until } from '#envoy/e2e/until.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import { openSession } from '#grpc/unary/testing/http2-client.ts';
import { startCompiled } from './compiled-envoy.ts';
import { type Echo, startEchoServer } from './echo-server.ts';

test('when an instance is gone and its application proxy is not, every request is answered by another', async t => {
  const instance = await startEchoServer('alive');
  t.after(() => instance.close());
  const [alive, dead] = [await freePort(), await freePort()];
  const proxies = [
    await startCompiled(applicationProxy(alive, instance.address), 'side'),
    await startCompiled(applicationProxy(dead, '127.0.0.1:1'), 'side'),
  ];
  t.after(() => Promise.all(proxies.map(proxy => proxy.stop())));
  const edge = await startCompiled(edgeProxy(alive, dead));
  t.after(() => edge.stop());

  for (const method of Array.from({ length: 50 }, (_, index) =>
    index % 2 === 0 ? 'POST' : 'GET',
  )) {
    const { status, headers } = await edge.ask('/x', { method });
    assert.equal(status, 200);
    assert.equal(headers['x-gateway-retriable'], undefined, 'that is between the proxies');
  }
  const attempts = proxies.map(
    ({ log }) =>
      log()
        .split('\n')
        .filter(line => line.includes('"status":503')).length,
  );
  assert.ok((attempts[1] ?? 0) > 0, 'the dead one was asked, else this shows nothing');
  const { body, headers } = (await proxies[1]?.ask('/x')) ?? assert.fail();
  assert.equal(headers['x-gateway-retriable'], 'true');
  assert.equal(JSON.parse(body).message, 'The service cannot be reached. Try again in a moment.');
});

test('a failed request is logged, and a failed health check is not', async t => {
  const proxy = await startCompiled(applicationProxy(await freePort(), '127.0.0.1:1'), 'side');
  t.after(() => proxy.stop());
  for (const agent of ['Envoy/HC', 'curl/8'])
    await proxy.ask(`/${agent}`, { headers: { 'user-agent': agent } });
  await proxy.ask('/nameless');
  const logged = () => [...proxy.log().matchAll(/"path":"([^"]*)"/g)].map(([, path]) => path);
  await until(() => logged().includes('/nameless') || undefined);
  assert.deepEqual(logged(), ['/curl/8', '/nameless']);
});

test('what the edge says of the client arrives unchanged', async t => {
  const instance = await startEchoServer('instance');
  t.after(() => instance.close());
  const proxy = await startCompiled(applicationProxy(await freePort(), instance.address), 'side');
  t.after(() => proxy.stop());
  const said = {
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'https',
    'x-request-id': '11111111-2222-4333-8444-555555555555',
    'x-forwarded-client-cert': 'URI=spiffe://client.example/a',
    x_underscore: 'kept',
  };
  const { headers, path } = await proxy.echo('/a%2Fb', { headers: said });
  assert.equal(path, '/a%2Fb');
  for (const [name, value] of Object.entries(said)) assert.equal(headers[name], value, name);
});

test('whatever number and size of headers the edge accepts reaches the instance', async t => {
  const instance = await startEchoServer('instance');
  t.after(() => instance.close());
  const side = await startCompiled(applicationProxy(await freePort(), instance.address), 'side');
  t.after(() => side.stop());
  const edge = await startCompiled(`
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: all}
spec: {prefix: /, rewrite: /v1/, service: '127.0.0.1:${side.port}', grpc: true}
`);
  t.after(() => edge.stop());
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, '1']));
  for (const headers of [fields(297), { long: 'x'.repeat(61_000) }]) {
    const { headers: arrived } = await edge.echo('/x', { headers });
    for (const [name, value] of Object.entries(headers)) assert.equal(arrived[name], value);
  }
  // Twice on the way, since the edge also says what the path was before `rewrite`.
  const { path } = await edge.echo(`/${'x'.repeat(60_000)}`);
  assert.equal(path, `/v1/${'x'.repeat(60_000)}`);
  for (const headers of [fields(300), { long: 'x'.repeat(62_000) }])
    assert.equal((await edge.ask('/x', { headers })).status, 431);
});

test('as many cookies as a browser keeps of a site arrive over HTTP/2, where each is a field', async t => {
  const instance = await startEchoServer('instance');
  t.after(() => instance.close());
  const edge = await startCompiled(`
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: all}
spec: {prefix: /, service: '${instance.address}'}
`);
  t.after(() => edge.stop());
  const session = openSession(t, edge.port);
  const cookies = Array.from({ length: 180 }, (_, index) => `c${index}=1`);
  const stream = session.request([':path', '/x', ...cookies.flatMap(pair => ['cookie', pair])]);
  const { headers } = JSON.parse(await text(stream)) as Echo;
  assert.equal(headers.cookie, cookies.join('; '));
});

test('clients that give up do not end the requests of others', async t => {
  const instance = createServer();
  t.after(() => new Promise(resolve => instance.close(resolve).closeAllConnections()));
  await once(instance.listen(0, '127.0.0.1'), 'listening');
  const address = `127.0.0.1:${(instance.address() as AddressInfo).port}`;
  const discovery = { xdsAddress: '127.0.0.1:1', sdsAddress: '127.0.0.1:1', figures: false };
  const node = { nodeId: 'side-1', group: 'side', isBehindEdge: true };
  const { layered_runtime = null } = bootstrap({ ...node, ...discovery });
  const side = await startCompiled(applicationProxy(await freePort(), address), 'side', json => ({
    ...json,
    layered_runtime,
  }));
  t.after(() => side.stop());
  const edge = await startCompiled(`
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: all}
spec: {prefix: /, service: '127.0.0.1:${side.port}', grpc: true}
`);
  t.after(() => edge.stop());
  const begin = async () => {
    const socket = connect(edge.port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.write('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\na');
    const [, response] = await once(instance, 'request');
    return { socket, response };
  };
  const upload = await begin();
  const answer = once(createInterface(upload.socket), 'line');
  for (let given = 0; given < 600; given++) {
    const begun = await Promise.race([begin(), answer]);
    if (!('socket' in begun)) break;
    begun.socket.destroy();
  }
  upload.socket.write('b');
  upload.response.end();
  assert.deepEqual(await answer, ['HTTP/1.1 200 OK']);
});

const MIB = 2 ** 20;

for (const [what, method, count, body] of [
  ['downloads that clients do not read', 'GET', 4, ''],
  ['uploads that the service does not read', 'POST', 20, 'x'.repeat(12 * MIB)],
] as const) {
  test(`${what} do not stop the requests of others`, { timeout: 60_000 }, async t => {
    const instance = createServer((request, response) => {
      if (request.url === '/small') request.resume().on('end', () => response.end('small'));
      else if (request.method === 'GET') response.end(Buffer.alloc(30 * MIB));
    });
    t.after(() => new Promise(resolve => instance.close(resolve).closeAllConnections()));
    await once(instance.listen(0, '127.0.0.1'), 'listening');
    const address = `127.0.0.1:${(instance.address() as AddressInfo).port}`;
    const side = await startCompiled(applicationProxy(await freePort(), address), 'side');
    t.after(() => side.stop());
    const edge = await startCompiled(`
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: all}
spec: {prefix: /, rewrite: '', service: '127.0.0.1:${side.port}', grpc: true}
`);
    t.after(() => edge.stop());
    for (let begun = 0; begun < count; begun++) {
      const socket = connect(edge.port, '127.0.0.1')
        .pause()
        .on('error', () => {});
      t.after(() => socket.destroy());
      const length = method === 'GET' ? 0 : 20 * MIB;
      socket.write(`${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
      socket.write(body);
    }
    let [last, looks] = ['', 0];
    await until(async () => {
      const moved = await edge.get('/stats?filter=upstream_cx_.x_bytes_total');
      looks = moved === last && / [1-9]/.test(moved) ? looks + 1 : 0;
      last = moved;
      return looks > 20 || undefined;
    });
    const { body: answer } = await edge.ask('/small', { method: 'POST', body: 'x'.repeat(MIB) });
    assert.equal(answer, 'small');
  });
}

const applicationProxy = (port: number, instance: string) => `
apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: {name: side}
spec:
  node_group: side
  listener: {port: ${port}}
  virtual_hosts: [{name: instance, domains: ['*'], routes: [{prefix: /, cluster: instance}]}]
  clusters: [{name: instance, type: static, hosts: [{url: 'tcp://${instance}'}]}]
`;

const edgeProxy = (...ports: readonly number[]) => `
apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: {name: edge}
spec:
  node_group: edge
  virtual_hosts: [{name: all, domains: ['*'], routes: [{prefix: /, cluster: service}]}]
  clusters: [{name: service, type: strict_dns, hosts: [${ports.map(port => `{url: 'tcp://127.0.0.1:${port}'}`).join(', ')}]}]
`;
