import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { FILTER, FILTER_POLICY } from '#protos/type-url.ts';
import { FilterFeeds } from './filter-feeds.ts';
import type { Configuration } from './filter-set.ts';

const [ONE, TWO] = [{ name: 'one' }, { name: 'two' }];

const resource = (name: string, version: string, json: JsonObject) => ({
  name,
  version,
  any: encodeAny(json),
});
const policy = (name: string, version = '1') =>
  resource(`default/${name}`, version, {
    ...{ '@type': FILTER_POLICY, namespace: 'default', name },
    rules: [{ host: '*', path: `/${name}`, filters: [] }],
  });
const routePolicy = (name: string) =>
  resource(`default/${name}`, '1', {
    ...{ '@type': FILTER_POLICY, namespace: 'default', name, route_rule: name },
    rules: [{ host: '*', path: '*', filters: [] }],
  });
const filter = (name: string, version: string, realm = version) =>
  resource(`default/${name}`, version, {
    '@type': FILTER,
    jwt: { valid_algorithms: ['none'], error_response: { realm } },
  });

/** Two control planes that have sent these policies. */
function setUp(...policies: readonly ReturnType<typeof policy>[]) {
  const feeds = new FilterFeeds();
  const send = (
    from: object,
    typeUrl: string,
    changed: readonly ReturnType<typeof resource>[],
    removed: readonly string[] = [],
  ) => {
    const taken = feeds.update(from, { typeUrl, changed, removed, complete: true });
    assert.ok('value' in taken, JSON.stringify(taken));
    return taken.value;
  };
  for (const from of [ONE, TWO]) {
    send(from, FILTER, []);
    send(from, FILTER_POLICY, policies);
  }
  return { feeds, send };
}

function told(configuration: Configuration | undefined) {
  const ids = (rules: Configuration['rules']) => rules.map(({ id }) => id).join();
  return configuration && [ids(configuration.rules), ...configuration.earlier.map(ids)];
}

test('what one has and another does not have is restricted, and what both have counts once', () => {
  const { send } = setUp(policy('a'));
  const one = send(ONE, FILTER_POLICY, [policy('b')]);
  assert.deepEqual(told(one), ['default/a[0],default/b[0]', 'default/a[0]']);
  const both = send(TWO, FILTER_POLICY, [policy('b')]);
  assert.deepEqual(told(both), ['default/a[0],default/b[0]']);
  assert.ok(both?.rules === one?.rules && both?.definitions === one?.definitions);
  const gone = send(ONE, FILTER_POLICY, [], ['default/a']);
  assert.deepEqual(told(gone), ['default/b[0]', 'default/a[0],default/b[0]']);
});

test('what a route names is known while one of them has it', () => {
  const { send } = setUp();
  send(ONE, FILTER_POLICY, [routePolicy('route')]);
  const late = send(TWO, FILTER_POLICY, [policy('a')]);
  assert.deepEqual(told(late), [
    'default/a[0],default/route[0]',
    'default/a[0]',
    'default/route[0]',
  ]);
  send(ONE, FILTER_POLICY, [policy('a')]);
  const both = send(TWO, FILTER_POLICY, [routePolicy('route')]);
  assert.deepEqual(told(both), ['default/a[0],default/route[0]']);
});

test('one that has not sent all yet changes nothing', () => {
  const { feeds, send } = setUp(policy('a'));
  const three = {};
  assert.equal(send(three, FILTER, []), undefined);
  assert.deepEqual(told(feeds.turned(TWO, 'here')), ['default/a[0]']);
});

test('the newest version of a Filter is in force, and one that a single one has', () => {
  const { send } = setUp();
  send(ONE, FILTER, [filter('x', '1'), filter('y', '1')]);
  const versions = (configuration: Configuration | undefined) =>
    [...(configuration?.definitions ?? [])].map(([name, { version }]) => `${name} ${version}`);
  assert.deepEqual(versions(send(TWO, FILTER, [filter('x', '2')])).sort(), [
    'default/x 2',
    'default/y 1',
  ]);
  const last = send(ONE, FILTER, [filter('x', '3')]);
  assert.deepEqual(versions(last).sort(), ['default/x 3', 'default/y 1']);
  // An edit of rules brings no older Filter back.
  assert.deepEqual(versions(send(TWO, FILTER_POLICY, [])).sort(), ['default/x 3', 'default/y 1']);
});

test('a Filter that all have counts once, though each has a version of its own for it', () => {
  const { send } = setUp();
  const one = send(ONE, FILTER, [filter('x', 'of one', 'x')]);
  const two = send(TWO, FILTER, [filter('x', 'of two', 'x')]);
  assert.equal(one?.definitions.size, 1);
  assert.ok(one?.definitions === two?.definitions);
});

test('one that is away does not count while another is here, and counts again when it is back', () => {
  const { feeds, send } = setUp(policy('a'));
  send(ONE, FILTER_POLICY, [], ['default/a']);
  assert.deepEqual(told(feeds.turned(TWO, 'away')), ['']);
  assert.deepEqual(told(feeds.turned(TWO, 'here')), ['', 'default/a[0]']);
});

test('when all are away what they had stays, until one is here', () => {
  const { feeds, send } = setUp(policy('a'));
  send(ONE, FILTER_POLICY, [policy('b')]);
  feeds.turned(ONE, 'away');
  assert.deepEqual(told(feeds.turned(TWO, 'away')), ['default/a[0],default/b[0]', 'default/a[0]']);
  const three = {};
  send(three, FILTER, []);
  assert.deepEqual(told(send(three, FILTER_POLICY, [policy('c')])), ['default/c[0]']);
});

test('the last one that has gone for good counts until another is here', () => {
  const { feeds, send } = setUp(policy('a'));
  feeds.turned(ONE, 'gone');
  assert.deepEqual(told(feeds.turned(TWO, 'gone')), ['default/a[0]']);
  const three = {};
  send(three, FILTER, []);
  assert.deepEqual(told(send(three, FILTER_POLICY, [policy('c')])), ['default/c[0]']);
  assert.equal(feeds.turned(TWO, 'here'), undefined);
});

test('a rejected change changes nothing', () => {
  const { feeds } = setUp(policy('a'));
  const bad = resource('default/bad', '1', { '@type': FILTER_POLICY, namespace: 'default' });
  const change = { typeUrl: FILTER_POLICY, changed: [bad], removed: [], complete: true };
  assert.ok('error' in feeds.update(ONE, change));
  assert.deepEqual(told(feeds.turned(ONE, 'here')), ['default/a[0]']);
});
