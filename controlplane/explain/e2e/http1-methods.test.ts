import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { test } from 'node:test';
import { startCompiled } from '#controlplane/compile/e2e/compiled-envoy.ts';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import { describe } from '../describe.ts';
import { document, explained, mapping } from '../testing/explained.ts';

test('explain tells which methods a real Envoy answers 400 over HTTP/1.1', async t => {
  const upstream = await startEchoServer('up');
  t.after(() => upstream.close());
  const service = `{prefix: /, service: '${upstream.address}'}`;
  const envoy = await startCompiled(document('Mapping', 'all', service));
  t.after(() => envoy.stop());
  const unread: string[] = [];
  // Node sends no method but these.
  for (const method of METHODS.filter(method => method !== 'CONNECT')) {
    const { status } = await envoy.ask('/', { method });
    const told = describe(explained(mapping(), { method }));
    assert.equal(told.includes('  over HTTP/1.1 it is answered 400: '), status === 400, method);
    if (status === 400) unread.push(method);
  }
  assert.ok(unread.includes('M-SEARCH'), String(unread));
});
