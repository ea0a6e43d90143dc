import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DrainedStore } from '#files/drained-store.ts';
import { drainOrders } from './drain-orders.ts';
import { type DrainedAddress, drainedSource } from './drained-source.ts';

const [ONE, TWO] = [
  { address: '127.0.0.1', port: 1 },
  { address: '127.0.0.1', port: 2 },
];
const QUIET = { info: () => {}, error: () => {} };

/** What sds does with `kept` in its store, and which of the instances it serves. */
function startWith(kept: readonly DrainedAddress[], write: DrainedStore['write']) {
  const source = drainedSource({
    watch: onChange => {
      onChange(new Map([['a', [ONE, TWO]]]));
      return () => {};
    },
  });
  const orders = drainOrders(source, { read: () => kept, write }, QUIET);
  const served: unknown[] = [];
  source.watch(instances => served.push(instances.get('a')));
  return { orders, served };
}

test('what was drained before a restart stays so until all orders are known', async () => {
  const written: unknown[] = [];
  const { orders, served } = startWith([ONE], drained => written.push(drained));
  assert.deepEqual(served, [[TWO]]);
  await orders.given('one', { drain: ONE });
  orders.allKnown?.();
  assert.deepEqual([served.at(-1), written], [[TWO], []]);
  orders.withdrawn?.('one');
  orders.allKnown?.();
  assert.deepEqual([served.at(-1), written], [[ONE, TWO], [[]]]);
});

test('what no order drains any more is served again, and another is kept', async () => {
  const written: unknown[] = [];
  const { orders, served } = startWith([ONE], drained => written.push(drained));
  await orders.given('two', { drain: TWO });
  orders.allKnown?.();
  assert.deepEqual([served, written], [[[TWO], [ONE]], [[TWO]]]);
});

test('a store that cannot be written drains all the same', async () => {
  const { orders, served } = startWith([], () => {
    throw new Error('full');
  });
  await orders.given('one', { drain: ONE });
  orders.allKnown?.();
  assert.deepEqual(served.at(-1), [TWO]);
});
