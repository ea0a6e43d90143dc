import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { jsonApp } from './json-app.ts';

test('64 bodies are read at a time, and further requests are answered 503', async t => {
  const decide = async () => ({ status: 200, body: {} });
  const server = http.createServer(jsonApp({ decide, notFound: '', onError: assert.fail }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/json`;
  const begun = await Promise.all(Array.from({ length: 64 }, () => begin(url)));
  const ask = () => fetch(url, { method: 'POST', body: '{}' });
  const refused = await ask();
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
  assert.deepEqual(await refused.json(), { error: 'too many requests are sent' });
  for (const request of begun) request.destroy();
  await until(async () => (await ask()).status === 200 || undefined);
});

/** Begins a request, and resolves when the server reads its body. */
async function begin(url: string): Promise<http.ClientRequest> {
  const headers = { 'content-length': 1_000, expect: '100-continue' };
  const request = http.request(url, { method: 'POST', headers, agent: false });
  request.on('error', () => {}).flushHeaders();
  await once(request, 'continue');
  return request;
}
