import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { Patience } from './patience.ts';

function patience() {
  const timers = new HandTimers();
  const told: string[] = [];
  const it = new Patience(
    () => 2_000,
    timers.after,
    () => told.push('late'),
  );
  return { it, timers, told };
}

test('what is waited for again and again is late after the first wait’s time', () => {
  const { it, timers, told } = patience();
  it.waitFor(['a']);
  it.waitFor(['a', 'b']);
  timers.runFirst();
  assert.deepEqual([it.isLate('a'), it.isLate('b'), told.length], [true, false, 1]);
  it.waitFor(['a', 'b']);
  assert.equal(it.isLate('a'), true);
});

test('an answer ends the wait, and the next wait is a new one', () => {
  const { it, timers } = patience();
  it.waitFor(['a']);
  timers.runFirst();
  it.waitFor([]);
  assert.deepEqual([it.isLate('a'), timers.pending], [false, 0]);
  it.waitFor(['a']);
  assert.deepEqual([it.isLate('a'), timers.pending], [false, 1]);
});

test('nothing is late that nobody waits for', () => {
  const { it, timers } = patience();
  it.waitFor(['a']);
  it.waitFor([]);
  assert.deepEqual([it.isLate('a'), it.isLate('b'), timers.pending], [false, false, 0]);
});
