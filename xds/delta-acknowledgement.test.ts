import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import { NO_RESOURCES } from './snapshot.ts';
import { DeltaDriver, holding } from './testing/delta-driver.ts';
import { resources } from './testing/resources.ts';

// Rules are quoted from Envoy's "xDS REST and gRPC protocol".

describe('ACK and NACK', () => {
  test('one response is in flight; the newest resources replace what waits', () => {
    const driver = new DeltaDriver();
    driver.ask({ subscribe: ['a'] });
    driver.sent(resources({ a: '1' }));
    assert.equal(driver.standing(), 'waiting');
    assert.equal(driver.sent(resources({ a: '2' })), undefined);
    assert.equal(driver.sent(resources({ a: '3' })), undefined);
    driver.ack();
    assert.deepEqual(driver.sent(resources({ a: '3' })), { a: '3' });
  });

  test('a stale, invented or repeated nonce is no ACK', () => {
    const { driver } = holding({ a: '1' });
    const old = driver.last?.nonce ?? '';
    driver.sent(resources({ a: '2' }));
    for (const nonce of [old, '999', '']) assert.equal(driver.ask({}, nonce).kind, 'none');
    assert.equal(driver.standing(), 'waiting');
    assert.equal(driver.ack().kind, 'ack');
    assert.equal(driver.ack().kind, 'none');
    assert.equal(driver.standing(), 'settled');
  });

  test('a request with a stale nonce still changes the subscription', () => {
    const { driver } = holding({ a: '1' }, ['a']);
    driver.ask({ subscribe: ['b'] }, 'stale');
    assert.deepEqual(driver.sent(resources({ a: '1', b: '1' })), { b: '1' });
  });

  test('a NACK names the version and the resources that were rejected', () => {
    const { driver } = holding({ a: '1', gone: '1' });
    driver.sent(resources({ a: '2' }));
    const version = driver.last?.system_version_info;
    assert.deepEqual(driver.nack('bad a'), {
      kind: 'nack',
      version,
      names: ['a', 'gone'],
      error: { code: 3, message: 'bad a' },
    });
    assert.equal(driver.standing(), 'rejected');
  });

  test('what was rejected is not sent again as it was', () => {
    const { driver } = holding({ a: '1', b: '1' });
    const rejected = resources({ a: '2', b: '2' });
    driver.sent(rejected);
    driver.nack();
    assert.equal(driver.sent(rejected), undefined);
    assert.equal(driver.sent(resources({ a: '2', b: '2' })), undefined);
    assert.equal(driver.standing(), 'rejected');
  });

  test('others go on while some are rejected', () => {
    const { driver } = holding({ a: '1' });
    driver.sent(resources({ a: '2' }));
    driver.nack();
    assert.deepEqual(driver.sent(resources({ a: '2', c: '1' })), { c: '1' });
    driver.ack();
    assert.equal(driver.standing(), 'rejected');
  });

  test('when one of the rejected changes, the innocent are sent again with it', () => {
    const { driver } = holding({ a: '1', b: '1' });
    driver.sent(resources({ a: '2', b: '2' }));
    driver.nack();
    assert.deepEqual(driver.sent(resources({ a: '2', b: '3' })), { a: '2', b: '3' });
    driver.ack();
    assert.equal(driver.standing(), 'settled');
  });

  test('after a refusal the older content goes out under a new version: a part may have been applied', () => {
    const { driver } = holding({ a: '1' });
    const before = driver.last?.system_version_info;
    driver.sent(resources({ a: '2' }));
    driver.nack();
    assert.deepEqual(driver.sent(resources({ a: '1' })), { a: '1' });
    assert.notEqual(driver.last?.system_version_info, before);
  });

  test('a resource that was new in a rejected response is removed when it goes: it may have been applied', () => {
    const { driver } = holding({ a: '1' });
    driver.sent(resources({ a: '1', innocent: '1', guilty: '1' }));
    driver.nack();
    assert.deepEqual(driver.sent(resources({ a: '1' })), { innocent: null, guilty: null });
  });

  test('a rejected removal is not repeated until something changes', () => {
    const { driver } = holding({ a: '1', b: '1' });
    driver.sent(resources({ a: '1' }));
    driver.nack();
    assert.equal(driver.sent(resources({ a: '1' })), undefined);
    assert.deepEqual(driver.sent(resources({ a: '1', b: '1' })), { b: '1' });
  });

  test('rejected empty endpoints are not sent in a loop', () => {
    const driver = new DeltaDriver(CLUSTER_LOAD_ASSIGNMENT);
    driver.ask({ subscribe: ['e'] });
    driver.sent(NO_RESOURCES);
    driver.nack();
    assert.equal(driver.sent(NO_RESOURCES), undefined);
  });

  test('who asks by name for what he rejected gets it', () => {
    const { driver } = holding({ a: '1' }, ['a']);
    driver.sent(resources({ a: '2' }));
    driver.nack();
    driver.ask({ subscribe: ['a'] });
    assert.deepEqual(driver.sent(resources({ a: '2' })), { a: '2' });
  });

  test('a refusal ends when what was rejected is no longer subscribed to', () => {
    const { driver } = holding({ a: '1' }, ['a']);
    driver.sent(resources({ a: '2' }));
    driver.nack();
    driver.ask({ unsubscribe: ['a'] });
    assert.equal(driver.standing(), 'settled');
  });
});
