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
    begin: (id: number, weight = 1) => turns.begin(() => done.push(id), weight),
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

test('what has begun goes on before more begins, and one more begins in each turn', () => {
  const { timers, done, take, begin } = setUp(3);
  for (let id = 0; id < 5; id++) begin(id);
  assert.deepEqual(done, [0, 1, 2]);
  for (let id = 10; id < 15; id++) take(id);
  timers.run(0);
  assert.deepEqual(done.splice(0), [0, 1, 2, 3, 10, 11]);
  timers.run(0);
  assert.deepEqual(done.splice(0), [4, 12, 13]);
  timers.run(0);
  assert.deepEqual(done.splice(0), [14]);
  begin(5, 3);
  begin(6);
  assert.deepEqual(done, [5]);
  timers.run(0);
  timers.run(0);
  assert.deepEqual([done, timers.pending], [[5, 6], 0]);
});

test('work that begins while turns are closed waits too, and is not lost', () => {
  const { timers, turns, done, take, begin } = setUp(2);
  const taken = turns.send(MAX_UNTAKEN_BYTES + 1);
  begin(0);
  take(1);
  timers.run(5);
  assert.deepEqual(done, []);
  taken();
  timers.run(5);
  assert.deepEqual(done, [0, 1]);
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
