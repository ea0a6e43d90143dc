import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { isOpenState, leftMs, newState } from './state.ts';

const NOW = 1_800_000_000_000;
const storeKey = createSecretKey(new Uint8Array(32).fill(7));

function makerAt(now: number, changes: { sealRealm?: string; storeKey?: typeof storeKey } = {}) {
  return {
    sealRealm: 'site.default',
    storeKey,
    sources: { now: () => now, randomBytes },
    ...changes,
  };
}

test('a state is 43 characters of base64url, another each time, and open for ten minutes', () => {
  const states = Array.from({ length: 100 }, () => newState(makerAt(NOW)));
  assert.equal(new Set(states).size, 100);
  for (const state of states) {
    assert.match(state, /^[\w-]{43}$/);
    assert.equal(leftMs(makerAt(NOW + 1_000), state), 599_000);
    assert.ok(isOpenState(makerAt(NOW + 599_999), state));
    assert.ok(!isOpenState(makerAt(NOW + 600_000), state));
  }
});

test('a replica whose clock is behind takes it too', () => {
  assert.ok(isOpenState(makerAt(NOW - 30_000), newState(makerAt(NOW))));
});

test('of another Filter, or under another store key, a state is unknown', () => {
  const state = newState(makerAt(NOW));
  assert.ok(!isOpenState(makerAt(NOW, { sealRealm: 'other.default' }), state));
  const other = createSecretKey(new Uint8Array(32).fill(8));
  assert.ok(!isOpenState(makerAt(NOW, { storeKey: other }), state));
});

test('a state with any byte changed is unknown, its time too', () => {
  const state = Buffer.from(newState(makerAt(NOW)), 'base64url');
  for (let index = 0; index < state.length; index += 1) {
    const forged = Buffer.from(state);
    forged[index] = (forged[index] ?? 0) ^ 1;
    assert.ok(!isOpenState(makerAt(NOW), forged.toString('base64url')), `byte ${index}`);
  }
});

for (const text of [
  '',
  'x',
  'a'.repeat(42),
  'a'.repeat(43),
  'a'.repeat(44),
  'a'.repeat(1_000_000),
  '\u{1f600}',
]) {
  test(`"${text.slice(0, 8)}" of ${text.length} letters is no state`, () => {
    assert.ok(!isOpenState(makerAt(NOW), text));
  });
}
