import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callsPair } from './testing/calls-pair.ts';

test('questions are answered, each its own, in whatever order', async () => {
  const { one, other } = callsPair();
  const later = Promise.withResolvers<string>();
  other.answer('double', body => Number(body) * 2);
  other.answer('later', () => later.promise);
  const late = one.ask('later');
  assert.deepEqual(await Promise.all([one.ask('double', 1), one.ask('double', 2)]), [2, 4]);
  later.resolve('now');
  assert.equal(await late, 'now');
});

test('either side may ask', async () => {
  const { one, other } = callsPair();
  one.answer('side', () => 'one');
  other.answer('side', async () => `other, and ${await other.ask('side')}`);
  assert.equal(await one.ask('side'), 'other, and one');
});

test('what an answer throws reaches the asking process', async () => {
  const { one, other } = callsPair();
  other.answer('fail', () => Promise.reject(new TypeError('no such lane')));
  await assert.rejects(one.ask('fail'), { message: 'no such lane' });
});

test('a question that nothing answers has no answer', async () => {
  const { one } = callsPair();
  assert.equal(await one.ask('unknown'), undefined);
});

test('a call that waits for a process that is gone is told', async () => {
  const { one, other } = callsPair();
  other.answer('never', () => new Promise(() => {}));
  const waiting = assert.rejects(one.ask('never'), /gone/);
  one.close();
  await waiting;
  await assert.rejects(one.ask('never'), /gone/);
  one.tell('anything');
});

test('other messages on the channel do no harm', async () => {
  const { hear, one, other } = callsPair();
  other.answer('double', body => Number(body) * 2);
  for (const message of ['listening', null, 7, { ready: true }, { answered: 99 }]) hear(message);
  assert.equal(await one.ask('double', 4), 8);
});
