import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import { NO_RESOURCES } from './snapshot.ts';
import { DeltaDriver } from './testing/delta-driver.ts';
import { resource, resources } from './testing/resources.ts';

// Rules are quoted from Envoy's "xDS REST and gRPC protocol".

describe('reconnection', () => {
  const a = resource('a', '1');

  test('resources that the client has in the right version are not sent again', () => {
    for (const subscribe of [[], ['*'], ['a']]) {
      const driver = new DeltaDriver();
      driver.ask({ subscribe, have: { a: a.version } });
      assert.equal(driver.sent(resources({ a: '1' })), undefined);
    }
  });

  test('what changed or went meanwhile is sent', () => {
    const driver = new DeltaDriver();
    driver.ask({ subscribe: ['*'], have: { a: 'older', b: '1', c: '1' } });
    assert.deepEqual(driver.sent(resources({ a: '1' })), { a: '1', b: null, c: null });
  });

  test('what went meanwhile may be in use: it is kept as long as that is asked for', () => {
    const driver = new DeltaDriver();
    driver.ask({ subscribe: ['*'], have: { a: 'older', b: '1' } });
    assert.deepEqual(driver.sent(resources({ a: '1' }), true), { a: '1' });
    driver.ack();
    assert.deepEqual(driver.sent(resources({ a: '1' })), { b: null });
  });

  test('endpoints that were known before and are unknown now are not emptied while they are kept', () => {
    const driver = new DeltaDriver(CLUSTER_LOAD_ASSIGNMENT);
    driver.ask({ subscribe: ['old', 'new'], have: { old: '1' } });
    driver.sent(NO_RESOURCES, true);
    assert.deepEqual(
      driver.last?.resources.map(({ name }) => name),
      ['new'],
    );
  });

  test('empty endpoints that the client has are not waited for', () => {
    const driver = new DeltaDriver(CLUSTER_LOAD_ASSIGNMENT);
    driver.ask({ subscribe: ['nobody'] });
    driver.sent(NO_RESOURCES, true);
    driver.ack();
    assert.equal(driver.sent(NO_RESOURCES, true), undefined);
  });

  test('versions of names that are no longer subscribed to count for nothing', () => {
    const driver = new DeltaDriver();
    driver.ask({ subscribe: ['b'], have: { a: a.version } });
    assert.deepEqual(driver.sent(NO_RESOURCES), { b: null });
    driver.ack({ subscribe: ['a'] });
    assert.deepEqual(driver.sent(resources({ a: '1' })), { a: '1' });
  });
});
