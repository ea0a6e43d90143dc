import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { issueIdentity } from '#certificates/authority/leaf.ts';
import { issueRoot } from '#certificates/authority/root.ts';
import { secretsGroup } from './who-may-have.ts';

const DAY = { now: Date.now(), lifetimeMs: 86_400_000 };
const ROOT = await issueRoot(DAY);

async function certificateOf(
  group: string,
  trustDomain = 'gateway.internal',
): Promise<X509Certificate> {
  return new X509Certificate((await issueIdentity(ROOT, { trustDomain, group }, DAY)).certificate);
}

function decide(cluster: string, address: string, certificate?: X509Certificate) {
  return secretsGroup({ id: 'a', cluster }, { address, certificate }, 'gateway.internal');
}

for (const address of [
  '127.0.0.1:5000',
  '127.9.9.9:5000',
  '[::1]:5000',
  '::1:5000',
  '::ffff:127.0.0.1:5000',
]) {
  test(`on the loopback (${address}) a proxy's word counts`, () => {
    assert.deepEqual(decide('edge', address), { group: 'edge' });
  });
}

for (const address of [
  '10.0.0.1:5000',
  '[2001:db8::1]:5000',
  '::ffff:10.0.0.1:5000',
  '[::127.0.0.1]:5000',
  'unknown',
  '',
  '127.evil.test:5000',
]) {
  test(`from elsewhere (${address}) nobody gets secrets in plain text`, () => {
    assert.deepEqual(decide('edge', address), {
      error: 'secrets go over the loopback or mutual TLS only',
    });
  });
}

test('by mutual TLS the identity decides, also on the loopback', async () => {
  const edge = await certificateOf('edge');
  assert.deepEqual(decide('edge', '10.0.0.1:5000', edge), { group: 'edge' });
  for (const address of ['10.0.0.1:5000', '127.0.0.1:5000']) {
    assert.deepEqual(decide('user-service', address, edge), {
      error: 'node.cluster is "user-service", but the certificate is of edge',
    });
  }
  const foreign = await certificateOf('edge', 'other.internal');
  assert.match(
    JSON.stringify(decide('edge', '127.0.0.1:5000', foreign)),
    /no group of gateway\.internal/,
  );
});

test('what a client says is quoted, and cut', () => {
  assert.deepEqual(decide(`\n${'x'.repeat(10_000)}`, '127.0.0.1:1'), {
    error: `node.cluster is "\\n${'x'.repeat(79)}": want the name of a node group`,
  });
});
