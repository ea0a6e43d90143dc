import assert from 'node:assert/strict';
import { test } from 'node:test';
import { soon } from '#ext-authz/testing/soon.ts';
import { AttemptGate } from './attempt-gate.ts';

/** Makes attempts that fail when they are told to. `tried` counts those let in. */
function attempts(limit: number) {
  const gate = new AttemptGate();
  let [failed, tried] = [0, 0];
  const attempt = async (fails: boolean, signal = soon()) => {
    const leave = await gate.enter('key', limit, async () => failed, signal);
    if (leave === 'limited') return 'limited';
    tried += 1;
    await new Promise(resolve => setImmediate(resolve));
    if (fails) failed += 1;
    leave();
    return fails ? 'failed' : 'fine';
  };
  return { attempt, tried: () => tried, gate };
}

function tally(results: readonly string[]): object {
  return Object.fromEntries(
    [...new Set(results)].sort().map(name => [name, results.filter(one => one === name).length]),
  );
}

test('a burst of failures does not pass the limit', async () => {
  const { attempt, tried } = attempts(5);
  const results = await Promise.all(Array.from({ length: 100 }, () => attempt(true)));
  assert.deepEqual(tally(results), { failed: 5, limited: 95 });
  assert.equal(tried(), 5);
});

test('a burst of successes waits and passes', async () => {
  const { attempt } = attempts(5);
  assert.deepEqual(tally(await Promise.all(Array.from({ length: 100 }, () => attempt(false)))), {
    fine: 100,
  });
});

test('a mixed burst ends at the limit', async () => {
  const { attempt } = attempts(3);
  const results = await Promise.all(
    Array.from({ length: 60 }, (_, index) => attempt(index % 2 === 0)),
  );
  assert.equal(results.filter(one => one === 'failed').length, 3);
  assert.ok(results.includes('limited'));
});

test('an attempt that waits gives up when its time is up', async () => {
  const { gate } = attempts(1);
  const leave = await gate.enter('key', 1, async () => 0, soon());
  const controller = new AbortController();
  const waiting = gate.enter('key', 1, async () => 0, controller.signal);
  controller.abort();
  assert.ok(leave !== 'limited');
  leave();
  await assert.rejects(waiting, /timeout|wait/);
  const next = await gate.enter('key', 1, async () => 0, soon());
  assert.notEqual(next, 'limited');
});

test('a count that fails lets the next one in', async () => {
  const { gate } = attempts(1);
  await assert.rejects(
    gate.enter('key', 1, () => Promise.reject(new Error('store')), soon()),
    /store/,
  );
  assert.notEqual(await gate.enter('key', 1, async () => 0, soon()), 'limited');
});

test('keys do not wait for each other', async () => {
  const { gate } = attempts(1);
  await gate.enter('one', 1, async () => 0, soon());
  assert.notEqual(await gate.enter('two', 1, async () => 0, soon()), 'limited');
});
