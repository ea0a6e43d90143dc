import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandTimers } from './testing/hand-timers.ts';
import { ASIDE_MS, MAX_UNTAKEN_BYTES, Turns } from './turns.ts';

function setUp(atOnce: number) {
  const timers = new HandTimers();
  const turns = new Turns({
    atOnce,
    later: callback => void timers.after(0, callback),
    after: timers.after,
  });
  const done: number[] = [];
  return {
    timers,
    turns,
    done,
    take: (id: number, weight?: number) => turns.take(() => done.push(id), weight),
  };
}

test('so much runs at once, and the rest in later turns, in order', () => {
  const { timers, done, take } = setUp(2);
  for (let id = 0; id < 5; id++) take(id);
  assert.deepEqual(done, [0, 1]);
  timers.run(0);
  assert.deepEqual(done, [0, 1, 2, 3]);
  take(5);
  timers.run(0);
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5]);
  timers.run(0);
  assert.equal(timers.pending, 0);
});

test('heavy work takes more of a turn', () => {
  const { timers, done, take } = setUp(8);
  take(0, 8);
  take(1, 8);
  take(2);
  assert.deepEqual(done, [0]);
  timers.run(0);
  assert.deepEqual(done, [0, 1]);
  timers.run(0);
  assert.deepEqual(done, [0, 1, 2]);
});

test('while transports have taken too little, nothing begins', () => {
  const { timers, turns, done, take } = setUp(2);
  const taken = turns.send(MAX_UNTAKEN_BYTES + 1);
  take(0);
  timers.run(5);
  assert.deepEqual(done, []);
  taken();
  taken();
  timers.run(5);
  assert.deepEqual(done, [0]);
  assert.equal(turns.isClosed, false);
});

test('a transport that takes nothing holds up the others for a bounded time', () => {
  const { timers, turns, done, take } = setUp(2);
  const taken = turns.send(MAX_UNTAKEN_BYTES + 1);
  take(0);
  timers.run(ASIDE_MS);
  timers.run(5);
  assert.deepEqual(done, [0]);
  taken();
  turns.send(MAX_UNTAKEN_BYTES);
  assert.equal(turns.isClosed, false);
});
