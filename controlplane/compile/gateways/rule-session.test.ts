import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sessionChanges } from './rule-session.ts';

const cookie = { path: '', lifetimeType: 'Session' } as const;
const session = { sessionPersistence: { type: 'Cookie', cookie } } as const;

test('a rule that is called as the place of another one has a cookie of its own', () => {
  const named = sessionChanges('HTTPRoute/shop/a', { index: 0, rule: { name: '1', ...session } });
  const other = sessionChanges('HTTPRoute/shop/a', { index: 1, rule: session });
  assert.match(JSON.stringify(other), /gateway-instance-[0-9a-f]{8}/);
  assert.notDeepEqual(named, other);
});
