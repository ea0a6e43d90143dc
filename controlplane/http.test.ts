import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { Router } from 'express';
import { Registry } from 'prom-client';
import { until } from '#envoy/e2e/until.ts';
import { openFigures } from './figures/open-figures.ts';
import { httpApp, type Readiness } from './http.ts';
import { MOST_WAITING } from './questions.ts';

const { figures: FIGURES } = openFigures({
  connected: () => [],
  replicated: false,
  on: true,
  refuse: () => undefined,
  failed: assert.fail,
  now: Date.now,
  after: () => () => {},
});

async function serveApp(
  t: TestContext,
  readiness: Readiness,
  onError: (error: unknown) => void = error => assert.fail(String(error)),
  status: () => object = () => ({ problems: [] }),
): Promise<string> {
  const app = httpApp({
    readiness: () => readiness,
    status,
    figures: FIGURES,
    explain: async ({ method }) => {
      if (method === '') throw new Error('"" is not a request method');
      return { asked: method };
    },
    diff: ({ files }) => {
      if (files.length === 0) return undefined;
      return Promise.resolve({ compared: files.map(({ name }) => name) });
    },
    metrics: new Registry(),
    console: Router().get('/:page', () => {
      throw new Error('one-secret');
    }),
    onError,
  });
  const server = http.createServer(app);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('requests for the status that come together are answered from one', async t => {
  let made = 0;
  const status = () => ({ problems: [{ made: ++made }] });
  const base = await serveApp(t, { ready: true }, undefined, status);
  const socket = net.connect(Number(new URL(base).port), '127.0.0.1');
  const get = 'GET /status HTTP/1.1\r\nHost: localhost\r\n';
  socket.write(`${`${get}\r\n`.repeat(4)}${get}Connection: close\r\n\r\n`);
  const answers = await text(socket);
  assert.deepEqual(answers.match(/"made": \d/g), Array(5).fill('"made": 1'));
  assert.match(answers, /Content-Type: application\/json; charset=utf-8/);
  assert.deepEqual(await (await fetch(`${base}/status`)).json(), { problems: [{ made: 2 }] });
});

test('readyz says why the control plane is not ready', async t => {
  const base = await serveApp(t, { ready: false, reason: 'routes.yaml cannot be read' });
  const answer = await fetch(`${base}/readyz`);
  assert.equal(answer.status, 503);
  assert.equal(await answer.text(), 'not ready: routes.yaml cannot be read\n');
});

test('a ready control plane answers every path of its interface', async t => {
  const base = await serveApp(t, { ready: true });
  for (const path of ['/healthz', '/readyz', '/status', '/metrics']) {
    assert.equal((await fetch(base + path)).status, 200, path);
  }
  assert.deepEqual(await (await fetch(`${base}/status`)).json(), { problems: [] });
});

test('other methods and paths are rejected in plain words', async t => {
  const base = await serveApp(t, { ready: true });
  const wrongMethod = await fetch(`${base}/status`, { method: 'POST' });
  assert.equal(wrongMethod.status, 405);
  assert.equal(wrongMethod.headers.get('allow'), 'GET, HEAD');
  assert.equal((await fetch(`${base}/nope`)).status, 404);
});

test('what fails is told in plain words, without a trace of the code', async t => {
  const failed: unknown[] = [];
  const base = await serveApp(t, { ready: true }, error => failed.push(error));
  const ask = async (path: string) => {
    const answer = await fetch(base + path);
    return [answer.status, await answer.json()];
  };
  assert.deepEqual(await ask('/console/%ff'), [400, { error: 'bad request' }]);
  assert.deepEqual(failed, []);
  assert.deepEqual(await ask('/console/page'), [500, { error: 'internal error, see the log' }]);
  assert.match(String(failed), /one-secret/);
});

test('what becomes of a request is asked by POST', async t => {
  const base = await serveApp(t, { ready: true });
  const ask = (body: string, type = 'application/json') =>
    fetch(`${base}/explain`, { method: 'POST', headers: { 'content-type': type }, body });
  const question = { method: 'GET', url: '/', headers: [], from: '::1', nodeGroup: 'edge' };
  assert.deepEqual(await (await ask(JSON.stringify(question))).json(), { asked: 'GET' });
  const wrong = await ask(JSON.stringify({ ...question, method: '' }));
  assert.deepEqual(
    [wrong.status, await wrong.json()],
    [400, { error: '"" is not a request method' }],
  );
  for (const body of [
    '',
    'null',
    '[]',
    '{',
    '"a"',
    '{"method":"GET"}',
    JSON.stringify({ ...question, headers: [1] }),
  ])
    assert.equal((await ask(body)).status, 400, body);
  assert.equal(
    (await ask(JSON.stringify(question), 'text/plain')).status,
    400,
    'as a page of another site can send',
  );
  assert.equal((await ask(JSON.stringify({ ...question, url: 'x'.repeat(200_000) }))).status, 413);
  assert.equal((await fetch(`${base}/explain`)).status, 405);
});

test('what documents would change is asked by POST', async t => {
  const base = await serveApp(t, { ready: true });
  const ask = (body: string, type = 'application/json') =>
    fetch(`${base}/diff`, { method: 'POST', headers: { 'content-type': type }, body });
  const file = { name: 'a.yaml', text: '' };
  const right = JSON.stringify({ files: [file] });
  assert.deepEqual(await (await ask(right)).json(), { compared: ['a.yaml'] });
  const busy = await ask('{"files":[]}');
  assert.deepEqual([busy.status, busy.headers.get('retry-after')], [503, '1']);
  for (const body of [
    '',
    'null',
    '[]',
    '{}',
    '{"files":{}}',
    '{"files":[""]}',
    '{"files":[null]}',
    '{"files":[{"name":"a"}]}',
    '{"files":[{"name":1,"text":""}]}',
    JSON.stringify({ files: [file, file] }),
    JSON.stringify({ files: [{ ...file, name: 'x'.repeat(1_001) }] }),
    JSON.stringify({ files: Array(10_001).fill(file) }),
    JSON.stringify({ files: [file], whole: 'yes' }),
    JSON.stringify({ files: [file], envoy: 1 }),
    JSON.stringify({ files: [file], remove: 'Mapping/default/a' }),
    JSON.stringify({ files: [file], remove: [1] }),
  ])
    assert.equal((await ask(body)).status, 400, body.slice(0, 80));
  assert.equal((await ask(right, 'text/plain')).status, 400, 'as a page of another site can send');
  const large = JSON.stringify({ files: [{ name: 'a', text: 'x'.repeat(2 ** 24) }] });
  assert.equal((await ask(large)).status, 413);
  assert.equal((await fetch(`${base}/diff`)).status, 405);
});

test('as many questions as may wait are read at a time', async t => {
  const base = await serveApp(t, { ready: true });
  const right = '{"files":[{"name":"a.yaml","text":""}]}';
  const ask = async (path: string) => {
    const answer = await fetch(base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: right,
    });
    return [answer.status, await answer.json()] as const;
  };
  const begun = await Promise.all(
    Array.from({ length: MOST_WAITING }, () => begin(`${base}/diff`, right.length)),
  );
  for (const path of ['/diff', '/explain'])
    assert.deepEqual(await ask(path), [503, { error: 'too many questions wait' }]);
  assert.equal((await fetch(`${base}/status`)).status, 200);
  const [whole, cut] = begun;
  const answered = once(whole ?? assert.fail(), 'response');
  whole?.end(right);
  const [response] = (await answered) as [http.IncomingMessage];
  assert.match(await text(response), /"compared"/);
  await until(async () => (await ask('/diff'))[0] === 200 || undefined);
  await begin(`${base}/diff`, right.length);
  assert.equal((await ask('/diff'))[0], 503);
  cut?.destroy();
  await until(async () => (await ask('/diff'))[0] === 200 || undefined);
});

/** Begins a question, and resolves when the server reads it. */
async function begin(url: string, length: number): Promise<http.ClientRequest> {
  const headers = {
    'content-type': 'application/json',
    'content-length': length,
    expect: '100-continue',
  };
  const request = http.request(url, { method: 'POST', headers, agent: false });
  request.on('error', () => {}).flushHeaders();
  await once(request, 'continue');
  return request;
}

test('a control plane that has read nothing yet compares nothing', async t => {
  const base = await serveApp(t, { ready: false, reason: 'the resources are not read yet' });
  const answer = await fetch(`${base}/diff`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"files":[]}',
  });
  assert.deepEqual(
    [answer.status, await answer.json()],
    [503, { error: 'not ready: the resources are not read yet' }],
  );
});

/** Asks by this Host, which fetch does not let one choose. */
async function askBy(
  base: string,
  host: string,
  path: string,
  method = 'GET',
): Promise<[number, string]> {
  const { port } = new URL(base);
  const asked = http.request({ host: '127.0.0.1', port, path, method, headers: { host } }).end();
  const [response] = (await once(asked, 'response')) as [http.IncomingMessage];
  return [response.statusCode ?? 0, await text(response)];
}

const PAGES = ['/healthz', '/readyz', '/status', '/figures', '/metrics', '/other'];

test('over the loopback nobody is answered in the name of another site', async t => {
  const base = await serveApp(t, { ready: true });
  for (const path of PAGES) {
    const [status, body] = await askBy(base, 'evil.test:8877', path);
    assert.deepEqual([path, status], [path, 403]);
    assert.match(JSON.parse(body).error, /names of this machine only/);
  }
  for (const path of ['/explain', '/diff'])
    assert.equal((await askBy(base, '127.0.0.1.evil.test', path, 'POST'))[0], 403);
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:8877', '[::1]:8877'])
    assert.equal((await askBy(base, host, '/status'))[0], 200);
});

test('a program without a Host is answered', async t => {
  const { port } = new URL(await serveApp(t, { ready: true }));
  const socket = net.connect(Number(port), '127.0.0.1');
  socket.end('GET /readyz HTTP/1.0\r\n\r\n');
  assert.match(await text(socket), /^HTTP\/1\.1 200 /);
});

test('figures are told', async t => {
  const base = await serveApp(t, { ready: true });
  const [status, local] = await askBy(base, '127.0.0.1:8877', '/figures?status=5&limit=1');
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(local).requests, []);
  assert.equal(JSON.parse(local).hidden, undefined);
});

for (const query of ['?status=abc', '?limit=1&limit=2', '?color=red', '?limit=-1', '?status=']) {
  test(`/figures${query} is a wrong question`, async t => {
    const base = await serveApp(t, { ready: true });
    const [status, body] = await askBy(base, 'localhost', `/figures${query}`);
    assert.equal(status, 400);
    assert.ok(JSON.parse(body).error);
  });
}
