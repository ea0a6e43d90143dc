import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { httpApp, type Readiness } from './http.ts';

async function serveApp(t: TestContext, readiness: Readiness): Promise<string> {
  const app = httpApp({
    readiness: () => readiness,
    status: () => ({ problems: [] }),
    metrics: new Registry(),
  });
  const server = http.createServer(app);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

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

test('other methods and paths are refused in plain words', async t => {
  const base = await serveApp(t, { ready: true });
  const wrongMethod = await fetch(`${base}/status`, { method: 'POST' });
  assert.equal(wrongMethod.status, 405);
  assert.equal(wrongMethod.headers.get('allow'), 'GET, HEAD');
  assert.equal((await fetch(`${base}/nope`)).status, 404);
});
