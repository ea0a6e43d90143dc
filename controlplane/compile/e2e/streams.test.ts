import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { freePort } from '#grpc/testing/free-port.ts';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { type SlowCalls, slowCallsAt, startSlowCalls } from './slow-calls.ts';
import { PARTS, PAUSE_MS, type SlowServer, startSlowServer } from './slow-server.ts';

/** Two thirds of the time that a stream takes, and four times that of its first part. */
const TIMEOUT_MS = (PARTS * PAUSE_MS * 2) / 3;

let slow: SlowServer;
let server: Awaited<ReturnType<typeof startSlowCalls>>;
let calls: SlowCalls;
let envoys: readonly CompiledEnvoy[];
let edge: CompiledEnvoy;

before(async () => {
  [slow, server] = await Promise.all([startSlowServer(), startSlowCalls()]);
  const port = await freePort();
  envoys = await Promise.all([startCompiled(SIDE(port), 'side'), startCompiled(EDGE(port))]);
  edge = envoys[1] as CompiledEnvoy;
  calls = slowCallsAt(`127.0.0.1:${edge.port}`);
});

after(async () => {
  calls.close();
  await Promise.all(envoys.map(envoy => envoy.stop()));
  server.stop();
  await slow.close();
});

const SIDE = (port: number) => `
apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: {name: side}
spec:
  node_group: side
  listener: {port: ${port}}
  virtual_hosts:
  - name: all
    domains: ['*']
    routes:
    - {prefix: /test.Slow/, cluster: calls, timeout_ms: ${TIMEOUT_MS}}
    - {prefix: /, cluster: slow, timeout_ms: ${TIMEOUT_MS}}
  clusters:
  - {name: calls, type: static, features: http2, hosts: [{url: 'tcp://${server.address}'}]}
  - {name: slow, type: static, hosts: [{url: 'tcp://${slow.address}'}]}
`;

const mapping = (name: string, spec: string, timeout = TIMEOUT_MS) => `---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: ${name}}
spec: {rewrite: '', timeout_ms: ${timeout}, ${spec}}
`;

const EDGE = (side: number) =>
  [
    mapping('calls', `prefix: /test.Slow/, service: '127.0.0.1:${side}', grpc: true`),
    mapping('all', `prefix: /, service: '127.0.0.1:${side}'`),
    mapping(
      'retried',
      `prefix: /retried/, service: '${slow.address}', retry_policy: {retry_on: reset}`,
    ),
    mapping('copied', `prefix: /parts/copied, service: '${slow.address}'`),
    mapping('copies', `prefix: /parts/copied, service: '${slow.address}', shadow: true`),
    mapping('idle', `prefix: /idle/, service: '${slow.address}', idle_timeout_ms: 300`, 0),
  ].join('');

const ALL = Array.from({ length: PARTS }, (_, index) => `${index + 1}`);

test('events come until the service ends them, long after timeout_ms', async () => {
  const { body, headers, status } = await edge.ask('/parts/events');
  assert.deepEqual([status, headers['content-type']], [200, 'text/event-stream']);
  assert.equal(body, ALL.map(part => `data: ${part}\n\n`).join(''));
});

test('so do the messages of a gRPC stream', async () => {
  assert.deepEqual(await calls.list('List'), ALL);
});

test('a gRPC stream goes on in both directions', async () => {
  assert.deepEqual(await calls.talk(ALL, PAUSE_MS), ALL);
});

test('an upload may take longer than timeout_ms', async () => {
  const upload = request({ port: edge.port, path: '/upload/x', method: 'POST' });
  const answered = once(upload, 'response');
  await new Promise<void>(resolve => {
    let sent = 0;
    const timer = setInterval(() => {
      sent += 1;
      upload.write('x'.repeat(10_000));
      if (sent < PARTS) return;
      clearInterval(timer);
      upload.end(resolve);
    }, PAUSE_MS);
  });
  const [response] = await answered;
  assert.deepEqual([response.statusCode, await text(response)], [200, String(10_000 * PARTS)]);
});

for (const path of ['/hang', '/retried/hang']) {
  test(`an answer to ${path} that does not begin within timeout_ms is 504`, async () => {
    const asked = performance.now();
    assert.equal((await edge.ask(path)).status, 504);
    assert.ok(performance.now() - asked >= TIMEOUT_MS, 'not before');
    await slow.ended(path);
  });
}

test('a gRPC call that is not answered in time is told so', async () => {
  await assert.rejects(calls.list('Hang'), /UNAVAILABLE|DEADLINE_EXCEEDED/);
});

test('a stream without a byte ends after idle_timeout_ms', async () => {
  assert.equal((await edge.ask('/idle/x')).status, 504);
});

test('a copy is ended after timeout_ms, which no client waits for', async () => {
  const { body } = await edge.ask('/parts/copied');
  assert.equal(body.split('data: ').length, PARTS + 1, 'the answer itself is whole');
  await slow.ended('/parts/copied#copy');
});
