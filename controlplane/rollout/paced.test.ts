import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { paced } from './paced.ts';

test('what comes during a pause is done once, at its end', () => {
  const timers = new HandTimers();
  let done = 0;
  const ask = paced(
    () => done++,
    () => 50,
    timers.after,
  );
  ask();
  assert.equal(done, 1);
  for (let time = 0; time < 10; time++) ask();
  assert.equal(done, 1);
  timers.run();
  assert.equal(done, 2);
  timers.run();
  assert.deepEqual([done, timers.pending], [2, 0]);
  ask();
  assert.equal(done, 3);
});

test('without a pause each call is work', () => {
  const timers = new HandTimers();
  let done = 0;
  const ask = paced(
    () => done++,
    () => 0.5,
    timers.after,
  );
  ask();
  ask();
  assert.deepEqual([done, timers.pending], [2, 0]);
});
