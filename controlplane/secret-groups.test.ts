import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseSecrets } from './secret-groups.ts';

for (const [group, address, plaintext, refused] of [
  ['ext-authz', '127.0.0.1:4711', false, false],
  ['ext-authz', '[::1]:4711', false, false],
  ['ext-authz', '[::ffff:127.0.0.1]:4711', false, false],
  ['ext-authz', '10.0.0.5:4711', false, true],
  ['ext-authz', '[2001:db8::1]:4711', false, true],
  ['ext-authz', 'unknown', false, true],
  ['ext-authz', '10.0.0.5:4711', true, false],
  ['ratelimit-service', '10.0.0.5:4711', false, false],
  ['edge', '10.0.0.5:4711', false, false],
] as const) {
  const allowed = plaintext ? ', where plaintext is allowed,' : '';
  test(`${address}${allowed} ${refused ? 'does not get' : 'gets'} the configuration of ${group}`, () => {
    assert.equal(refuseSecrets(group, address, plaintext) !== undefined, refused);
  });
}
