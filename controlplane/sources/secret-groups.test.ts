import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { refuseGroup } from './secret-groups.ts';

const TRUST = { plaintextSecrets: false, trustDomain: 'gateway.internal' };
const AUTHORITY = await testAuthority();

for (const [group, address, plaintext, rejected] of [
  ['ext-authz', '127.0.0.1:4711', false, false],
  ['ext-authz', '[::1]:4711', false, false],
  ['ext-authz', '[::ffff:127.0.0.1]:4711', false, false],
  ['ext-authz', '::ffff:127.0.0.1:4711', false, false],
  ['ext-authz', '::1:4711', false, false],
  ['ext-authz', '::ffff:10.0.0.5:4711', false, true],
  ['ext-authz', '10.0.0.5:4711', false, true],
  ['ext-authz', '[2001:db8::1]:4711', false, true],
  ['ext-authz', 'unknown', false, true],
  ['ext-authz', '10.0.0.5:4711', true, false],
  ['sds', '127.0.0.1:4711', false, false],
  ['sds', '10.0.0.5:4711', false, true],
  ['sds', '10.0.0.5:4711', true, true],
  ['ratelimit-service', '10.0.0.5:4711', false, false],
  ['edge', '10.0.0.5:4711', false, false],
] as const) {
  const allowed = plaintext ? ', where plaintext is allowed,' : '';
  test(`${address}${allowed} ${rejected ? 'does not get' : 'gets'} the configuration of ${group}`, () => {
    const trust = { ...TRUST, plaintextSecrets: plaintext };
    assert.equal(
      refuseGroup(group, { address, certificate: undefined }, trust) !== undefined,
      rejected,
    );
  });
}

for (const [uris, group, rejected] of [
  [['spiffe://gateway.internal/group/edge'], 'edge', false],
  [['spiffe://gateway.internal/group/edge'], 'ext-authz', true],
  [['spiffe://gateway.internal/group/edge'], 'edge-2', true],
  [['spiffe://gateway.internal/group/ext-authz'], 'ext-authz', false],
  [['spiffe://other.test/group/edge'], 'edge', true],
  [
    ['spiffe://gateway.internal/group/edge', 'spiffe://gateway.internal/group/ext-authz'],
    'edge',
    true,
  ],
  [[], 'edge', true],
  [[], '', true],
] as const) {
  const who = `a certificate of ${uris.length === 0 ? 'no name' : uris.join(' and ')}`;
  test(`${who} ${rejected ? 'does not get' : 'gets'} the configuration of ${group || 'no group'}, on the loopback too`, async () => {
    const certificate = new X509Certificate((await AUTHORITY.issue(uris)).certificate);
    const trust = { ...TRUST, plaintextSecrets: true };
    const reason = refuseGroup(group, { address: '127.0.0.1:1', certificate }, trust);
    assert.equal(reason !== undefined, rejected);
  });
}
