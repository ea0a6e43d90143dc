import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CLUSTER_LOAD_ASSIGNMENT, ROUTE_CONFIGURATION, SECRET } from '#protos/type-url.ts';
import { MAX_RESPONSE_BYTES } from './delta-parts.ts';
import { NO_RESOURCES } from './snapshot.ts';
import { DeltaDriver, holding } from './testing/delta-driver.ts';
import { resource, resources } from './testing/resources.ts';
import { emptyAssignment } from './type-rules.ts';

// Rules are quoted from Envoy's "xDS REST and gRPC protocol".

describe('wildcard', () => {
  test('a first request without names subscribes to everything', () => {
    const driver = new DeltaDriver();
    driver.ask();
    assert.deepEqual(driver.sent(resources({ a: '1', b: '1' })), { a: '1', b: '1' });
  });

  test('"*" subscribes to everything, now and later', () => {
    const { driver, sent } = holding({ a: '1' });
    assert.deepEqual(sent, { a: '1' });
    assert.deepEqual(driver.sent(resources({ a: '1', b: '1' })), { b: '1' });
  });

  test('who subscribes to everything gets a first answer, were it empty, and once only', () => {
    const { driver, sent } = holding({});
    assert.deepEqual(sent, {});
    assert.equal(driver.sent(NO_RESOURCES), undefined);
  });

  test('a name added to the legacy wildcard leaves the wildcard in force', () => {
    const driver = new DeltaDriver();
    driver.ask();
    driver.sent(resources({ a: '1' }));
    driver.ack({ subscribe: ['a'] });
    assert.deepEqual(driver.sent(resources({ a: '1', b: '1' })), { a: '1', b: '1' });
  });

  test('without names left after an explicit subscription, nothing is subscribed to', () => {
    const { driver } = holding({ a: '1' }, ['a']);
    driver.ask({ unsubscribe: ['a'] });
    assert.equal(driver.sent(resources({ a: '2', b: '1' })), undefined);
  });

  test('unsubscribing from "*" continues the names that were subscribed to', () => {
    const { driver } = holding({ a: '1', b: '1' }, ['*', 'a']);
    driver.ask({ unsubscribe: ['*'] });
    assert.deepEqual(driver.sent(resources({ a: '2', b: '2' })), { a: '2' });
  });

  test('a name unsubscribed from under a wildcard is answered: sent where the wildcard covers it, else removed', () => {
    const { driver } = holding({ a: '1' }, ['*', 'a', 'x']);
    driver.ask({ unsubscribe: ['a', 'x'] });
    assert.deepEqual(driver.sent(resources({ a: '1' })), { a: '1', x: null });
  });

  test('nobody gets secrets by wildcard', () => {
    for (const subscribe of [[], ['*']]) {
      const driver = new DeltaDriver(SECRET);
      driver.ask({ subscribe });
      assert.equal(driver.sent(resources({ s: '1' }, SECRET)), undefined);
    }
  });
});

describe('names', () => {
  test('only what changed is sent', () => {
    const { driver } = holding({ a: '1', b: '1' }, ['a', 'b']);
    assert.deepEqual(driver.sent(resources({ a: '1', b: '2' })), { b: '2' });
  });

  test('names that are not subscribed to are not sent', () => {
    assert.deepEqual(holding({ a: '1', b: '1' }, ['a']).sent, { a: '1' });
  });

  test('a name that does not exist is reported as removed, once', () => {
    const { driver, sent } = holding({}, ['a']);
    assert.deepEqual(sent, { a: null });
    assert.equal(driver.sent(resources({ b: '1' })), undefined);
  });

  test('a name that springs into existence later is sent', () => {
    const { driver } = holding({}, ['a']);
    assert.deepEqual(driver.sent(resources({ a: '1' })), { a: '1' });
  });

  test('a resource that goes is reported as removed, once per subscription', () => {
    for (const names of [['*'], ['a'], ['*', 'a']]) {
      const { driver } = holding({ a: '1' }, names);
      assert.deepEqual(driver.sent(NO_RESOURCES), { a: null });
      driver.ack();
      assert.equal(driver.sent(resources({}, ROUTE_CONFIGURATION)), undefined);
    }
  });

  test('names that are subscribed to again are sent again, unchanged or missing', () => {
    const { driver } = holding({ a: '1' }, ['a', 'x']);
    driver.ask({ subscribe: ['a', 'x'] });
    assert.deepEqual(driver.sent(resources({ a: '1' })), { a: '1', x: null });
  });

  test('unsubscribing needs no answer, phantom unsubscriptions are ignored', () => {
    const { driver } = holding({ a: '1' }, ['a']);
    driver.ask({ unsubscribe: ['a', 'phantom'] });
    assert.equal(driver.sent(resources({ a: '2', phantom: '1' })), undefined);
  });

  test('who unsubscribes and subscribes again is sent the resource again', () => {
    const { driver } = holding({ a: '1' }, ['a']);
    driver.ask({ unsubscribe: ['a'] });
    driver.ask({ subscribe: ['a'] });
    assert.deepEqual(driver.sent(resources({ a: '1' })), { a: '1' });
  });
});

describe('types', () => {
  test('a secret that does not exist is met with silence, and one that goes is not removed', () => {
    const { driver, sent } = holding({}, ['s'], SECRET);
    assert.equal(sent, undefined);
    assert.deepEqual(driver.sent(resources({ s: '1' }, SECRET)), { s: '1' });
    driver.ack();
    assert.equal(driver.sent(NO_RESOURCES), undefined);
  });

  test('secrets are sent again to who reconnects', () => {
    const driver = new DeltaDriver(SECRET);
    const secret = resource('s', '1', SECRET);
    driver.ask({ subscribe: ['s'], have: { s: secret.version } });
    assert.deepEqual(driver.sent(resources({ s: '1' }, SECRET)), { s: '1' });
  });

  test('endpoints that nobody serves are answered at once, empty, and again when they go', () => {
    const driver = new DeltaDriver(CLUSTER_LOAD_ASSIGNMENT);
    driver.ask({ subscribe: ['e'] });
    driver.sent(NO_RESOURCES);
    const empty = emptyAssignment('e');
    assert.deepEqual(driver.last?.resources, [
      { name: 'e', version: empty.version, resource: empty.any },
    ]);
    driver.ack();
    assert.deepEqual(driver.sent(resources({ e: '1' }, CLUSTER_LOAD_ASSIGNMENT)), { e: '1' });
    driver.ack();
    driver.sent(NO_RESOURCES);
    assert.equal(driver.last?.resources[0]?.version, empty.version);
  });
});

test('a big first fill is cut into responses of at most 2 MiB, each sent after the ACK of the one before', () => {
  const contents = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [`r${i}`, 'x'.repeat(100_000)]),
  );
  const all = resources(contents);
  const driver = new DeltaDriver();
  driver.ask({ subscribe: ['*'] });
  const sizes: number[] = [];
  const got = new Set<string>();
  for (let sent = driver.sent(all); sent !== undefined; sent = driver.sent(all)) {
    const bytes = driver.last?.resources.map(({ resource: any }) => any.value.length) ?? [];
    sizes.push(bytes.reduce((sum, size) => sum + size, 0));
    for (const name of Object.keys(sent)) got.add(name);
    driver.ack();
  }
  assert.equal(got.size, 50);
  assert.equal(sizes.length, 3);
  assert.ok(Math.max(...sizes) <= MAX_RESPONSE_BYTES);
});

test('one resource above that size goes alone', () => {
  const driver = new DeltaDriver();
  driver.ask({ subscribe: ['*'] });
  const all = resources({ big: 'x'.repeat(MAX_RESPONSE_BYTES), small: '1' });
  assert.deepEqual(Object.keys(driver.sent(all) ?? {}), ['big']);
  driver.ack();
  assert.deepEqual(Object.keys(driver.sent(all) ?? {}), ['small']);
});

test('equal resources have an equal version, whatever their order', () => {
  const one = holding({ a: '1', b: '1' }).driver.last?.system_version_info;
  assert.equal(holding({ b: '1', a: '1' }).driver.last?.system_version_info, one);
});
