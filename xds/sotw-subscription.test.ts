import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  LISTENER,
  ROUTE_CONFIGURATION,
  SECRET,
} from '#protos/type-url.ts';
import { NO_RESOURCES } from './snapshot.ts';
import { resources } from './testing/resources.ts';
import { SotwDriver } from './testing/sotw-driver.ts';
import { emptyAssignment } from './type-rules.ts';

// Rules are quoted from Envoy's "xDS REST and gRPC protocol".

/** Begins a subscription to `names` (none: everything) and ACKs what it is sent of `held`. */
function holding(held: Record<string, string>, names: readonly string[] = [], typeUrl = CLUSTER) {
  const driver = new SotwDriver(typeUrl);
  driver.ask(names);
  const sent = driver.sent(resources(held, typeUrl));
  driver.ack();
  return { driver, sent };
}

describe('wildcard', () => {
  test('requests without names subscribe to everything, until one has names', () => {
    const { driver, sent } = holding({ a: '1', b: '1' });
    assert.deepEqual(sent, ['a=1', 'b=1']);
    driver.ask(['*', 'a']);
    assert.deepEqual(driver.sent(resources({ a: '1', b: '2' })), ['a=1', 'b=2']);
    driver.ack(['a']);
    assert.deepEqual(driver.sent(resources({ a: '2', b: '3' })), ['a=2']);
    driver.ack([]);
    assert.equal(driver.sent(resources({ a: '3', b: '4' })), undefined);
  });

  test('a subscription to everything is about more than the one name that it has', () => {
    const { driver } = holding({ a: '1', b: '1' }, ['*', 'a']);
    assert.equal(driver.subscription.onlyName, undefined);
    driver.ack(['a']);
    assert.equal(driver.subscription.onlyName, 'a');
    driver.ack(['a', 'b']);
    assert.equal(driver.subscription.onlyName, undefined);
  });

  test('listeners and clusters get a first answer, were it empty', () => {
    for (const typeUrl of [LISTENER, CLUSTER]) assert.deepEqual(holding({}, [], typeUrl).sent, []);
  });

  test('nobody gets secrets by wildcard', () => {
    for (const names of [[], ['*']])
      assert.equal(holding({ s: '1' }, names, SECRET).sent, undefined);
  });
});

describe('what a response holds', () => {
  for (const typeUrl of [LISTENER, CLUSTER]) {
    const type = typeUrl.slice(typeUrl.lastIndexOf('.') + 1);
    test(`${type}: every resource, also those that did not change`, () => {
      const { driver } = holding({ a: '1', b: '1' }, [], typeUrl);
      assert.deepEqual(driver.sent(resources({ a: '1', b: '2' }, typeUrl)), ['a=1', 'b=2']);
    });

    test(`${type}: a resource that is missing in a response is deleted`, () => {
      const { driver } = holding({ a: '1', b: '1' }, [], typeUrl);
      assert.deepEqual(driver.sent(resources({ a: '1' }, typeUrl)), ['a=1']);
      driver.ack();
      assert.deepEqual(driver.sent(NO_RESOURCES), []);
    });
  }

  test('of other types what is subscribed to by name', () => {
    const { driver, sent } = holding({ a: '1', b: '1' }, ['a'], ROUTE_CONFIGURATION);
    assert.deepEqual(sent, ['a=1']);
    assert.equal(driver.sent(resources({ a: '1', b: '2' }, ROUTE_CONFIGURATION)), undefined);
  });

  test('a route that goes is not reported: the protocol has no word for it', () => {
    const { driver } = holding({ a: '1' }, ['a'], ROUTE_CONFIGURATION);
    assert.equal(driver.sent(NO_RESOURCES), undefined);
  });

  test('a name that does not exist is met with silence, and sent when it springs into existence', () => {
    for (const typeUrl of [ROUTE_CONFIGURATION, SECRET]) {
      const { driver, sent } = holding({}, ['a'], typeUrl);
      assert.equal(sent, undefined);
      assert.deepEqual(driver.sent(resources({ a: '1' }, typeUrl)), ['a=1']);
    }
  });

  test('endpoints that nobody serves are answered at once, empty', () => {
    const driver = new SotwDriver(CLUSTER_LOAD_ASSIGNMENT);
    driver.ask(['e']);
    driver.sent(NO_RESOURCES);
    assert.deepEqual(driver.last?.resources, [emptyAssignment('e').any]);
  });

  test('endpoints that were known before a reconnection and are unknown now are not emptied while they are kept', () => {
    const driver = new SotwDriver(CLUSTER_LOAD_ASSIGNMENT);
    driver.ask(['old'], '', 'version of an earlier stream');
    assert.equal(driver.sent(NO_RESOURCES, true), undefined);
    assert.notEqual(driver.sent(NO_RESOURCES), undefined);
  });
});

describe('names', () => {
  test('newly requested names are sent, although they have not changed', () => {
    const { driver } = holding({ a: '1', b: '1' }, ['a'], ROUTE_CONFIGURATION);
    driver.ask(['a', 'b']);
    assert.deepEqual(driver.sent(resources({ a: '1', b: '1' }, ROUTE_CONFIGURATION)), [
      'a=1',
      'b=1',
    ]);
  });

  test('names that are left out are unsubscribed from, which needs no answer', () => {
    const { driver } = holding({ a: '1', b: '1' }, ['a', 'b'], ROUTE_CONFIGURATION);
    driver.ask(['a']);
    assert.equal(driver.sent(resources({ a: '1', b: '2' }, ROUTE_CONFIGURATION)), undefined);
  });

  test('an endpoints request after the ACK, as follows a cluster push, is answered with unchanged content', () => {
    const { driver } = holding({ e: '1' }, ['e'], CLUSTER_LOAD_ASSIGNMENT);
    const same = resources({ e: '1' }, CLUSTER_LOAD_ASSIGNMENT);
    assert.equal(driver.sent(same), undefined);
    driver.ask(['e']);
    assert.deepEqual(driver.sent(same), ['e=1']);
    driver.ack();
    assert.equal(driver.sent(same), undefined);
  });

  test('requests of other types that repeat their names are not answered', () => {
    const { driver } = holding({ a: '1' }, ['a'], ROUTE_CONFIGURATION);
    driver.ask(['a']);
    assert.equal(driver.sent(resources({ a: '1' }, ROUTE_CONFIGURATION)), undefined);
  });
});

describe('ACK and NACK', () => {
  test('one response is in flight; the newest resources replace what waits', () => {
    const driver = new SotwDriver();
    driver.ask([]);
    driver.sent(resources({ a: '1' }));
    assert.equal(driver.standing(), 'waiting');
    assert.equal(driver.sent(resources({ a: '2' })), undefined);
    driver.ack();
    assert.deepEqual(driver.sent(resources({ a: '3' })), ['a=3']);
  });

  test('a request with a stale nonce is ignored, names and all', () => {
    const { driver } = holding({ a: '1', b: '1' }, ['a'], ROUTE_CONFIGURATION);
    const old = driver.last?.nonce;
    driver.sent(resources({ a: '2', b: '1' }, ROUTE_CONFIGURATION));
    assert.equal(driver.ask(['b'], old).kind, 'none');
    assert.equal(driver.standing(), 'waiting');
    driver.ack(['a']);
    assert.equal(driver.sent(resources({ a: '2', b: '2' }, ROUTE_CONFIGURATION)), undefined);
  });

  test('a request without a nonce that crosses the first response counts, but is no ACK', () => {
    const driver = new SotwDriver(ROUTE_CONFIGURATION);
    driver.ask(['a']);
    const both = resources({ a: '1', b: '1' }, ROUTE_CONFIGURATION);
    driver.sent(both);
    assert.equal(driver.ask(['a', 'b'], '').kind, 'none');
    assert.equal(driver.standing(), 'waiting');
    driver.ack(['a', 'b']);
    assert.deepEqual(driver.sent(both), ['a=1', 'b=1']);
  });

  test('a NACK is the presence of error_detail, whatever version_info says', () => {
    const { driver } = holding({ a: '1' });
    driver.sent(resources({ a: '2' }));
    assert.equal(driver.ask([], driver.last?.nonce, 'some other version').kind, 'ack');
    driver.sent(resources({ a: '3' }));
    const version = driver.last?.version_info;
    assert.deepEqual(driver.nack('bad'), {
      kind: 'nack',
      version,
      names: ['a'],
      error: { code: 3, message: 'bad' },
    });
  });

  test('a rejected response is not sent again', () => {
    const { driver } = holding({ a: '1' });
    driver.sent(resources({ a: '2' }));
    driver.nack();
    assert.equal(driver.sent(resources({ a: '2' })), undefined);
    assert.equal(driver.standing(), 'rejected');
    driver.subscription.retry();
    assert.deepEqual(driver.sent(resources({ a: '2' })), ['a=2'], 'but when it is to be tried');
  });

  test('after a refusal the next response has a new version, were its content older', () => {
    const { driver } = holding({ a: '1' });
    const before = driver.last?.version_info;
    driver.sent(resources({ a: '2' }));
    const rejected = driver.last?.version_info;
    driver.nack();
    assert.deepEqual(driver.sent(resources({ a: '1' })), ['a=1']);
    assert.notEqual(driver.last?.version_info, before);
    assert.notEqual(driver.last?.version_info, rejected);
    driver.ack();
    assert.equal(driver.standing(), 'settled');
  });

  test('the version is a hash of the content that is sent', () => {
    const of = (held: Record<string, string>) => holding(held).driver.last?.version_info;
    assert.equal(of({ a: '1', b: '1' }), of({ b: '1', a: '1' }));
    assert.notEqual(of({ a: '1' }), of({ a: '2' }));
  });
});
