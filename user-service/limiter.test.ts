import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limiter } from './limiter.ts';

test('at most so many tasks run at a time, in the order they came', async () => {
  const limit = limiter(2, 10);
  const order: number[] = [];
  let running = 0;
  let most = 0;
  const task = async (n: number) => {
    most = Math.max(most, ++running);
    order.push(n);
    await new Promise(setImmediate);
    running -= 1;
    return n;
  };
  const numbers = Array.from({ length: 12 }, (_, n) => n);
  assert.deepEqual(await Promise.all(numbers.map(n => limit(() => task(n)))), numbers);
  assert.equal(most, 2);
  assert.deepEqual(order, numbers);
});

test('what may not wait is refused at once', async () => {
  const limit = limiter(1, 1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = limit(() => promise);
  const second = limit(async () => 'second');
  await assert.rejects(
    limit(async () => 'third'),
    { name: 'Overloaded' },
  );
  resolve();
  await first;
  assert.equal(await second, 'second');
});

test('a task that fails gives its place back', async () => {
  const limit = limiter(1, 0);
  await assert.rejects(
    limit(() => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  );
  assert.equal(await limit(async () => 'next'), 'next');
});
