import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayTake, observe, readLease, releasedLease, takenLease } from './lease-state.ts';

const object = (spec: object) => ({ metadata: { name: 'x' }, spec });

test('a Lease of somebody else may be taken only when it was seen unchanged for longer than it lasts', () => {
  const lease = takenLease(undefined, 'other', 15, 0);
  const first = observe(undefined, lease, 1_000_000);
  assert.equal(mayTake(lease, first, 'we', 1_015_000), false);
  assert.equal(mayTake(lease, first, 'we', 1_015_001), true);
});

test('a Lease that lasts longer than any holder asks for may be taken after a minute', () => {
  const edited = takenLease(undefined, 'other', 86_400, 0);
  const first = observe(undefined, edited, 1_000_000);
  assert.equal(mayTake(edited, first, 'we', 1_060_000), false);
  assert.equal(mayTake(edited, first, 'we', 1_060_001), true);
});

test('the clock of the holder does not matter: each renewal begins the wait anew', () => {
  const lease = takenLease(undefined, 'other', 15, 0);
  const first = observe(undefined, lease, 1_000_000);
  const renewed = takenLease(lease, 'other', 15, 5_000);
  const second = observe(first, renewed, 1_010_000);
  assert.equal(mayTake(renewed, second, 'we', 1_020_000), false);
  assert.equal(observe(second, renewed, 1_020_000), second);
});

test('our own Lease and nobody’s may be taken at once', () => {
  const ours = takenLease(undefined, 'we', 15, 0);
  assert.equal(mayTake(ours, observe(undefined, ours, 0), 'we', 0), true);
  const free = releasedLease(takenLease(undefined, 'other', 15, 0), 0);
  assert.equal(mayTake(free, observe(undefined, free, 0), 'we', 0), true);
});

test('a change of the holder is counted and dated, a renewal is not', () => {
  const first = takenLease(undefined, 'a', 15, 0);
  const renewed = takenLease(first, 'a', 15, 5_000);
  assert.equal(renewed.acquireTime, '1970-01-01T00:00:00.000000Z');
  assert.equal(renewed.renewTime, '1970-01-01T00:00:05.000000Z');
  const taken = takenLease(renewed, 'b', 15, 60_000);
  assert.deepEqual([renewed.leaseTransitions, taken.leaseTransitions], [0, 1]);
  assert.equal(taken.acquireTime, '1970-01-01T00:01:00.000000Z');
});

test('a Lease that is empty or malformed is nobody’s', () => {
  for (const spec of [{}, { holderIdentity: 5, leaseDurationSeconds: 'long' }]) {
    assert.equal(readLease(object(spec)).holderIdentity, '');
  }
});
