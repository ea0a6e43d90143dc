import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WriteQueue } from './write-queue.ts';

/** A queue of names. The test ends each write, and each wait. */
function queueOfNames() {
  const begun = new Map<string, (leastMs?: number) => void>();
  const waits: { readonly ms: number; readonly run: () => void }[] = [];
  let again = 0;
  const queue = new WriteQueue<string>({
    keyOf: name => name,
    write: name => new Promise(resolve => begun.set(name, resolve)),
    again: () => {
      again += 1;
    },
    after: (ms, run) => {
      waits.push({ ms, run });
      return () => {};
    },
    random: () => 0,
  });
  const end = async (name: string, leastMs?: number) => {
    const resolve = begun.get(name);
    begun.delete(name);
    resolve?.(leastMs);
    await new Promise(setImmediate);
  };
  return { queue, begun, waits, end, again: () => again };
}

const names = (count: number) => Array.from({ length: count }, (_, at) => `${at}`);

test('sixteen are written at a time, and each that ends lets the next begin', async () => {
  const { queue, begun, end } = queueOfNames();
  queue.set(names(40));
  assert.equal(begun.size, 16);
  await end('3');
  assert.deepEqual([...begun.keys()].at(-1), '16');
});

test('a busy API gets the pause that it asks for, and then one write at a time', async () => {
  const { queue, begun, end, waits, again } = queueOfNames();
  queue.set(names(60));
  for (const name of names(16)) await end(name, 7_000);
  assert.equal(begun.size, 0);
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    [7_000],
  );
  waits[0]?.run();
  assert.equal(again(), 1);
  for (const name of names(48).slice(16)) {
    assert.deepEqual([...begun.keys()], [name]);
    await end(name);
  }
  assert.equal(begun.size, 2);
});

test('an API that stays away is asked more and more seldom', async () => {
  const { queue, begun, end, waits } = queueOfNames();
  queue.set(names(40));
  for (let tries = 0; tries < 4; tries += 1) {
    for (const name of [...begun.keys()]) await end(name, 0);
    waits[tries]?.run();
  }
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    [100, 200, 400, 800],
  );
});

test('an object that is set while it is written is asked for again afterwards', async () => {
  const { queue, begun, end, again } = queueOfNames();
  queue.set(['a']);
  queue.set(['a', 'b']);
  assert.deepEqual([...begun.keys()], ['a', 'b']);
  assert.equal(again(), 0);
  await end('a');
  assert.equal(again(), 1);
  await end('b');
  assert.equal(again(), 1);
});
