import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { request } from '#envoy/e2e/request.ts';
import { httpApp } from './http-app.ts';

test('a stranger learns nothing of an error of ours', async t => {
  const failed = new Error('where it is');
  const errors: unknown[] = [];
  const app = httpApp({
    notReady: () => undefined,
    metrics: () => Promise.reject(failed),
    onError: error => errors.push(error),
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { body, status } = await request(base, '/metrics');
  assert.deepEqual([status, body], [500, '{"error":"internal error, see the log"}']);
  assert.deepEqual(errors, [failed]);
  for (const path of ['/%ff', '/healthz/%ff', '//', '/..%2f', '/metrics%00'])
    assert.deepEqual([path, (await request(base, path)).status], [path, 404]);
});
