import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageType } from '#protos/root.ts';
import { cases } from '#protos/testing/cases.ts';
import { CLUSTER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { MAX_RESPONSE_BYTES } from './delta-parts.ts';
import type { DeltaDiscoveryResponse } from './discovery.ts';
import { encodeDeltaResponse } from './encode-response.ts';
import { NO_RESOURCES } from './snapshot.ts';
import { DeltaDriver, holding } from './testing/delta-driver.ts';
import { Random } from './testing/random.ts';
import { resources } from './testing/resources.ts';
import { advance, begin, release, retarget } from './transition.ts';

test('clients that hold the same are sent the very same list', () => {
  const [first, second] = [resources({ a: '1', b: '1' }), resources({ a: '2', c: '1' })];
  const drivers = [new DeltaDriver(), new DeltaDriver()];
  for (const driver of drivers) {
    driver.ask({ subscribe: ['*'] });
    driver.sent(first);
    driver.ack();
    assert.deepEqual(driver.sent(second), { a: '2', b: null, c: '1' });
  }
  const [one, other] = drivers.map(({ last }) => last);
  assert.equal(one?.resources, other?.resources);
  assert.equal(one?.removed_resources, other?.removed_resources);
});

test('clients that ask for names are sent the very same list of one resource', () => {
  const drivers = [holding({ a: '1', b: '1' }, ['a']), holding({ a: '1', c: '1' }, ['a', 'b'])];
  const next = resources({ a: '2', b: '1' });
  const [one, other] = drivers.map(({ driver }) => {
    driver.ask({}, '');
    assert.equal(driver.sent(next)?.a, '2');
    return driver.last;
  });
  assert.equal(one?.resources.length, 1);
  assert.equal(other?.resources.length, 2);
  const again = resources({ a: '3', b: '1' });
  const lists = drivers.map(({ driver }) => {
    driver.ack();
    driver.sent(again);
    return driver.last;
  });
  assert.equal(lists[0]?.resources, lists[1]?.resources);
  assert.equal(lists[0]?.removed_resources, lists[1]?.removed_resources);
});

test('a client that resumes shares with the others from its first answer on', () => {
  const [first, second] = [resources({ a: '1', b: '1' }), resources({ a: '2', b: '1' })];
  const { driver } = holding({ a: '1', b: '1' });
  driver.sent(first);
  const resumed = new DeltaDriver();
  const have = Object.fromEntries([...first].map(([name, { version }]) => [name, version]));
  resumed.ask({ subscribe: ['*'], have: { ...have, gone: '1' } });
  assert.equal(resumed.sent(first, true), undefined);
  assert.deepEqual(resumed.sent(first), { gone: null });
  resumed.ack();
  assert.equal(resumed.sent(first), undefined);
  driver.sent(second);
  resumed.sent(second);
  assert.equal(resumed.last?.resources, driver.last?.resources);
  assert.equal(resumed.subscription.bytes, 0);
});

test('a client ends with the newest resources, whatever comes between the parts of a large change', () => {
  const random = new Random(7);
  const large = 'x'.repeat(MAX_RESPONSE_BYTES * 0.4);
  const contents = () =>
    resources(
      Object.fromEntries(
        random.some(['a', 'b', 'c', 'd', 'e', 'f']).map(name => [name, large + random.below(3)]),
      ),
    );
  const rounds = cases({ all: 20, quick: 5 });
  for (let round = 0; round < rounds; round += 1) {
    const driver = new DeltaDriver();
    const holds = new Map<string, string | null>();
    driver.ask({ subscribe: ['*'] });
    let wanted = contents();
    const take = (mayReject = true) => {
      const sent = driver.sent(wanted);
      if (sent === undefined) return false;
      const rejects = mayReject && random.chance(0.1);
      if (rejects) driver.nack();
      else driver.ack();
      for (const [name, content] of rejects ? [] : Object.entries(sent))
        if (content === null) holds.delete(name);
        else holds.set(name, content);
      return true;
    };
    for (let step = 0; step < 8; step += 1) {
      if (random.chance(0.3)) wanted = contents();
      take();
    }
    // What was rejected is sent again once it has changed.
    wanted = resources({ a: `end ${round}` });
    while (take(false));
    wanted = resources({ a: `very end ${round}`, b: '1' });
    let turns = 0;
    while (take(false)) assert.ok(++turns < 50);
    assert.deepEqual(Object.fromEntries(holds), { a: `very end ${round}`, b: '1' });
  }
});

test('a response is encoded as the API says, and its nonce is its own', () => {
  const type = messageType('envoy.service.discovery.v3.DeltaDiscoveryResponse');
  const { driver } = holding({ a: '1', b: '1' }, ['*'], ROUTE_CONFIGURATION);
  const large = 'x'.repeat(100_000);
  const next = { a: 'é'.repeat(200), c: '', d: large, e: large.slice(1), f: 'after them' };
  driver.sent(resources(next, ROUTE_CONFIGURATION));
  assert.ok(driver.last);
  assert.equal(driver.last.resources.length, 5);
  for (const nonce of ['7', '123456']) {
    const response: DeltaDiscoveryResponse = { ...driver.last, nonce };
    const decoded = type.decode(encodeDeltaResponse(response));
    assert.deepEqual(type.toObject(decoded), type.toObject(type.fromObject(response)));
  }
});

test('proxies that go the same way share each step of it', () => {
  const snapshot = (content: string) => new Map([[CLUSTER, resources({ [content]: content })]]);
  const [a, b, c] = [snapshot('a'), snapshot('b'), snapshot('c')];
  const way = () => {
    const started = advance(advance(begin(undefined, a)));
    const [atStart] = started.kept;
    const settled = atStart === undefined ? started : release(started, atStart);
    const moved = advance(advance(retarget(settled, b, new Set())));
    const waiting = retarget(advance(retarget(moved, c, new Set())), a, new Set());
    const replaced = retarget(waiting, b, new Set([CLUSTER]));
    return [started, settled, moved, waiting, replaced];
  };
  const others = way();
  for (const [at, step] of way().entries()) assert.equal(step, others[at]);
  assert.equal(others[2]?.stage.snapshot.get(CLUSTER)?.size, 2);
  assert.notEqual(begin(undefined, new Map([[CLUSTER, NO_RESOURCES]])), others[0]);
});

test('a resource with a time to live says it, in whole seconds', () => {
  const all = new Map(
    [...resources({ a: '1', b: '1' })].map(([name, resource]) => [
      name,
      name === 'a' ? { ...resource, ttlMs: 5_500 } : resource,
    ]),
  );
  const driver = new DeltaDriver();
  driver.ask({ subscribe: ['*'] });
  driver.sent(all);
  assert.ok(driver.last !== undefined);
  const type = messageType('envoy.service.discovery.v3.DeltaDiscoveryResponse');
  const read = type.toObject(type.decode(encodeDeltaResponse(driver.last)), { longs: Number });
  assert.deepEqual(
    read.resources.map(({ ttl }: { ttl?: object }) => ttl),
    [{ seconds: 6 }, undefined],
  );
});
