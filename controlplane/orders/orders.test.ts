import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Order, takeOrders } from '#process/orders.ts';
import { CLUSTER, ORDER } from '#protos/type-url.ts';
import type { Snapshot } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';
import type { Drained, DrainedStore } from './drained-store.ts';
import { Orders } from './orders.ts';

const PLAIN: Snapshot = new Map([[CLUSTER, new Map()]]);
const INSTANCE = { address: '127.0.0.1', port: 9001 };

function ordersAt(group: string, stored: readonly Drained[] = []) {
  const written: (readonly Drained[])[] = [];
  const timers: (() => void)[] = [];
  const cache = new SnapshotCache();
  const after = (_ms: number, run: () => void) => {
    timers.push(run);
    return () => {};
  };
  const store: DrainedStore = { read: () => stored, write: all => written.push(all) };
  const orders = new Orders({ cache, store, after }, group);
  orders.set(group, PLAIN);
  const served = () => [...(cache.get(group)?.get(ORDER)?.values() ?? [])];
  const elapse = () => {
    for (const run of timers.splice(0)) run();
  };
  return { cache, orders, served, elapse, written };
}

test('an order stands beside the configuration, for some seconds', () => {
  const { cache, elapse, orders, served } = ordersAt('ext-authz');
  orders.do('ext-authz', { session_end: { filter: 'default/login', user: 'ada' } });
  assert.equal(served().length, 1);
  assert.ok(cache.get('ext-authz')?.has(CLUSTER));
  orders.set('ext-authz', PLAIN);
  assert.equal(served().length, 1, 'a new configuration does not take it back');
  elapse();
  assert.equal(cache.get('ext-authz'), PLAIN);
});

test('what is drained is stored, and stands after a restart', () => {
  const { orders, written } = ordersAt('sds');
  orders.drain('sds', INSTANCE, true);
  const after = ordersAt('sds', written.at(-1));
  assert.deepEqual([after.served().length, after.orders.drained], [1, [INSTANCE]]);
  after.orders.drain('sds', INSTANCE, false);
  assert.deepEqual([after.served(), after.written], [[], [[]]]);
});

test('a drain stands until it is withdrawn', () => {
  const { elapse, orders, served } = ordersAt('sds');
  orders.drain('sds', INSTANCE, true);
  orders.drain('sds', INSTANCE, true);
  elapse();
  assert.deepEqual([served().length, orders.drained], [1, [INSTANCE]]);
  orders.drain('sds', INSTANCE, false);
  orders.drain('sds', INSTANCE, false);
  assert.deepEqual([served(), orders.drained], [[], []]);
});

test('not more is asked at once than a service can do', () => {
  const { elapse, orders } = ordersAt('ext-authz');
  const ask = () => orders.do('ext-authz', { session_end: { filter: 'f', user: 'u' } });
  for (let time = 0; time < 200; time += 1) ask();
  assert.throws(ask, /too much/);
  elapse();
  ask();
});

test('a service reads what was ordered, and what it cannot read is left out', () => {
  const { orders, served } = ordersAt('sds');
  orders.drain('sds', INSTANCE, true);
  orders.do('sds', { session_end: { filter: 'default/login', user: 'ada' } });
  orders.do('sds', { counter_reset: { domain: 'd', labels: [{ key: 'k', value: '' }] } });
  orders.do('sds', {});
  const given: Order[] = [];
  const withdrawn: string[] = [];
  let acked = 0;
  const take = takeOrders({
    given: (_name, order) => given.push(order),
    withdrawn: name => withdrawn.push(name),
  });
  const broken = { name: 'x', version: '1', any: { type_url: ORDER, value: Buffer.from([255]) } };
  const nack = () => assert.fail('orders are never rejected');
  const base = { typeUrl: ORDER, complete: true, ack: () => (acked += 1), nack };
  take({ ...base, changed: [...served(), broken], removed: ['gone'] });
  assert.deepEqual(given, [
    { drain: INSTANCE },
    { sessionEnd: { filter: 'default/login', user: 'ada' } },
    { counterReset: { domain: 'd', labels: [{ key: 'k', value: '' }] } },
  ]);
  assert.deepEqual([withdrawn, acked], [['gone'], 1]);
});
