import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Drained, DrainedStore } from '#files/drained-store.ts';
import { CLUSTER, ORDER } from '#protos/type-url.ts';
import type { Snapshot } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';
import { Orders, type ShareDrain } from './orders.ts';

const PLAIN: Snapshot = new Map([[CLUSTER, new Map()]]);
const INSTANCE = { address: '127.0.0.1', port: 9001 };

function ordersAt(
  group: string,
  stored: readonly Drained[] = [],
  isHeard = true,
  share?: ShareDrain,
) {
  const written: (readonly Drained[])[] = [];
  const timers: (() => void)[] = [];
  const cache = new SnapshotCache();
  const after = (_ms: number, run: () => void) => {
    timers.push(run);
    return () => {};
  };
  const store: DrainedStore = { read: () => stored, write: all => written.push(all) };
  const answers = { isHeard: () => isHeard, of: async () => [] };
  const orders = new Orders({ cache, store, answers, share, after }, group);
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
  assert.deepEqual([served(), orders.drained], [[], []]);
});

test('what another control plane drains is left out here too', async () => {
  const shared: [Drained, boolean][] = [];
  const { orders, served, written } = ordersAt('sds', [], false, async (...drain) => {
    shared.push(drain);
  });
  const other = { ...INSTANCE, port: 9002 };
  await orders.share(INSTANCE, true);
  orders.drain('sds', INSTANCE, true);
  orders.take('sds', [INSTANCE, other]);
  assert.deepEqual([served().length, orders.drained], [2, [INSTANCE, other]]);
  await orders.share(INSTANCE, false);
  orders.take('sds', [other]);
  await orders.drain('sds', INSTANCE, false);
  assert.deepEqual([served().length, written.at(-1)], [1, [other]]);
  await assert.rejects(orders.share(INSTANCE, false), /not drained/);
  assert.deepEqual(shared, [
    [INSTANCE, true],
    [INSTANCE, false],
  ]);
});

test('not more is asked at once than a service can do', () => {
  const { elapse, orders } = ordersAt('ext-authz');
  const ask = () => orders.do('ext-authz', { session_end: { filter: 'f', user: 'u' } });
  for (let time = 0; time < 200; time += 1) ask();
  assert.throws(ask, /too much/);
  elapse();
  ask();
});

test('what no service would hear is not ordered, and what is not drained is not withdrawn', () => {
  const { orders, served } = ordersAt('sds', [], false);
  assert.throws(() => orders.do('sds', {}), /no sds is connected/);
  assert.throws(() => orders.drain('sds', INSTANCE, true), /no sds is connected/);
  assert.throws(() => orders.drain('sds', INSTANCE, false), /not drained/);
  assert.deepEqual([served(), orders.drained], [[], []]);
});

test('beside as many orders of another kind all that is drained elsewhere is taken', () => {
  const { orders, served, written } = ordersAt('sds', [], true, async () => {});
  const renewal = { certificate_renewal: { hostname: 'a.test', revoke: false } };
  for (let time = 0; time < 200; time += 1) orders.do('sds', renewal);
  orders.take('sds', [INSTANCE]);
  assert.deepEqual([served().length, written], [201, [[INSTANCE]]]);
});

test('no more than 200 instances are drained, and those stay so over a restart', () => {
  const many = Array.from({ length: 200 }, (_, index) => ({ ...INSTANCE, port: index + 1 }));
  const { orders } = ordersAt('sds', many);
  assert.throws(() => orders.drain('sds', INSTANCE, true), /too much/);
  orders.drain('sds', { ...INSTANCE, port: 1 }, true);
  assert.equal(orders.drained.length, 200);
});
