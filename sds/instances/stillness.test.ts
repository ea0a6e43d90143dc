import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STILL_MS, stillness } from './stillness.ts';

const OLD = 3_600_000;

function setUp() {
  let now = 0;
  const it = stillness(() => now);
  return { ...it, pass: (ms: number) => (now += ms) };
}

test('a file that was written in place is still after a while without a write', () => {
  const it = setUp();
  it.event('write');
  assert.equal(it.isStill(0), false);
  it.pass(STILL_MS - 1);
  it.event('write');
  it.pass(STILL_MS - 1);
  assert.equal(it.isStill(OLD), false);
  it.pass(1);
  assert.equal(it.isStill(OLD), true);
});

test('a file that was renamed onto the path is whole at once, however new it is', () => {
  const it = setUp();
  it.event('rename');
  assert.equal(it.isStill(0), true);
  it.event('write');
  assert.equal(it.isStill(0), false);
});

test('without an event of it the time of the file counts, unless it is in the future', () => {
  const it = setUp();
  it.event('other');
  assert.equal(it.isStill(STILL_MS - 1), false);
  assert.equal(it.isStill(STILL_MS), true);
  assert.equal(it.isStill(-1), true);
});

test('a file that is written without a pause counts after ten seconds, time and again', () => {
  const it = setUp();
  const write = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      it.event('write');
      assert.equal(it.isStill(0), false);
      it.pass(100);
    }
    it.event('write');
  };
  for (let round = 0; round < 2; round += 1) {
    write(10_000);
    assert.equal(it.isStill(0), true);
    assert.equal(it.used(), true);
  }
});

test('an event is told of once, with the content that is used after it', () => {
  const it = setUp();
  assert.equal(it.used(), false);
  it.event('other');
  assert.deepEqual([it.used(), it.used()], [true, false]);
});

test('a content that is written again does not take time from the next writer', () => {
  const it = setUp();
  it.event('write');
  assert.equal(it.isStill(0), false);
  it.pass(STILL_MS);
  assert.equal(it.isStill(STILL_MS), true);
  it.pass(3_600_000);
  it.event('write');
  assert.equal(it.isStill(0), false);
});

test('a file that is written without a pause is overdue after ten seconds, and a still one never', () => {
  const it = setUp();
  for (let passed = 0; passed < 10_000; passed += 100) {
    it.event('write');
    assert.deepEqual([it.isStill(0), it.isOverdue()], [false, false]);
    it.pass(100);
  }
  it.event('write');
  assert.deepEqual([it.isStill(0), it.isOverdue()], [true, true]);
  it.pass(STILL_MS);
  assert.deepEqual([it.isStill(OLD), it.isOverdue()], [true, false]);
});
