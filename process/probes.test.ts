import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as ask, createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { type ProbeParts, probes } from './probes.ts';

/** Asks a server that has a page of its own beside the probes. */
async function serving(t: TestContext, parts: Partial<ProbeParts> = {}) {
  const listener = probes(
    { notReady: () => undefined, metrics: async () => 'one 1\n', onError: () => {}, ...parts },
    (_request, response) => void response.end('other'),
  );
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const get = async (path: string, method = 'GET') => {
    const sent = ask({ port, host: '127.0.0.1', path, method, agent: false }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { response, answer: [response.statusCode, await text(response)] };
  };
  return Object.assign(get, { port });
}

test('requests for the metrics that come together are answered from one', async t => {
  let made = 0;
  const { port } = await serving(t, { metrics: async () => `made ${++made}\n` });
  const asked = async () => {
    const socket = connect(port, '127.0.0.1');
    const get = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n';
    socket.write(`${`${get}\r\n`.repeat(4)}${get}Connection: close\r\n\r\n`);
    return (await text(socket)).match(/made \d/g);
  };
  assert.deepEqual(
    [await asked(), await asked()],
    [Array(5).fill('made 1'), Array(5).fill('made 2')],
  );
});

test('probes are answered by GET, and by HEAD without the body', async t => {
  const get = await serving(t);
  for (const [path, type, body] of [
    ['/healthz', 'text/plain; charset=utf-8', 'ok\n'],
    ['/readyz', 'text/plain; charset=utf-8', 'ready\n'],
    ['/metrics', 'text/plain; version=0.0.4; charset=utf-8', 'one 1\n'],
  ] as const) {
    const whole = await get(path);
    const head = await get(path, 'HEAD');
    assert.deepEqual(
      [whole.answer, head.answer],
      [
        [200, body],
        [200, ''],
      ],
    );
    for (const { headers } of [whole.response, head.response])
      assert.deepEqual(
        [headers['content-type'], headers['content-length']],
        [type, `${body.length}`],
      );
  }
});

test('other methods are told which ones there are', async t => {
  const { answer, response } = await (await serving(t))('/healthz', 'POST');
  assert.deepEqual(answer, [405, '{"error":"method not allowed, use GET, HEAD"}']);
  assert.equal(response.headers.allow, 'GET, HEAD');
});

test('a service that is not ready says why', async t => {
  const get = await serving(t, { notReady: async () => 'no limits yet' });
  assert.deepEqual((await get('/readyz')).answer, [503, 'not ready: no limits yet\n']);
  assert.deepEqual((await get('/healthz')).answer, [200, 'ok\n']);
});

test('an error of ours is heard of, and the client learns nothing of it', async t => {
  const errors: unknown[] = [];
  const failed = new Error('where it is');
  const metrics = () => Promise.reject(failed);
  const get = await serving(t, { metrics, onError: error => errors.push(error) });
  assert.deepEqual((await get('/metrics')).answer, [
    500,
    '{"error":"internal error, see the log"}',
  ]);
  assert.deepEqual(errors, [failed]);
});

test('a query, letter case, a slash at the end and a whole URL make no difference', async t => {
  const get = await serving(t);
  for (const path of ['/healthz?a=/b', '/HealthZ', '/healthz/', 'http://any.test/healthz?a'])
    assert.deepEqual([path, (await get(path)).answer], [path, [200, 'ok\n']]);
});

test('all else is for others', async t => {
  const get = await serving(t);
  for (const path of ['/', '//', '/healthz//', '//healthz', '/healthz/x', '/%68ealthz', '*'])
    assert.deepEqual([path, (await get(path)).answer], [path, [200, 'other']]);
});
