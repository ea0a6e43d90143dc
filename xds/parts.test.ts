import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROUTE_CONFIGURATION, VIRTUAL_HOST } from '#protos/type-url.ts';
import { DeltaSubscription } from './delta-subscription.ts';
import { partsFor, wholeOf } from './parts.ts';
import { xdsResource } from './snapshot.ts';
import { brought } from './testing/delta-driver.ts';
import { rulesOf } from './type-rules.ts';

const part = (name: string, text = '') =>
  xdsResource(name, { type_url: VIRTUAL_HOST, value: Buffer.from(text) });
const map = (...names: readonly string[]) => new Map(names.map(name => [name, part(name)]));
const acked = (...names: readonly string[]) => ({
  knows: (name: string) => (names.includes(name) ? ('acked' as const) : ('asked' as const)),
});
const REQUEST = {
  node: null,
  type_url: VIRTUAL_HOST,
  resource_names_subscribe: [],
  resource_names_unsubscribe: [],
  initial_resource_versions: brought({}),
  response_nonce: '',
  error_detail: null,
};

test('a client gets the parts of what it has ACKed alone', () => {
  const resources = map('a/1', 'a/2', 'b:443/host/1');
  assert.deepEqual([...partsFor(resources, acked('a')).keys()], ['a/1', 'a/2']);
  assert.equal(partsFor(resources, acked('a')), partsFor(resources, acked('a')));
  assert.equal(partsFor(resources, acked('a', 'b:443/host')), resources);
  assert.equal(wholeOf('b:443/host/1'), 'b:443/host');
});

test('a client that ACKs tables in ever new combinations has few of them kept', () => {
  const tables = Array.from({ length: 40 }, (_, index) => `t${index}`);
  const resources = map(...tables.map(table => `${table}/1`));
  const first = partsFor(resources, acked('t0'));
  for (const table of tables) partsFor(resources, acked(table));
  const again = partsFor(resources, acked('t0'));
  assert.notEqual(again, first);
  assert.deepEqual(again, first);
});

test('a table counts as ACKed when no newer one is on its way', () => {
  const tables = new DeltaSubscription(ROUTE_CONFIGURATION, rulesOf(ROUTE_CONFIGURATION));
  const table = (text: string) =>
    new Map([['a', xdsResource('a', { type_url: ROUTE_CONFIGURATION, value: Buffer.from(text) })]]);
  assert.equal(tables.knows('a'), undefined);
  tables.request({ ...REQUEST, resource_names_subscribe: ['a'] });
  assert.equal(tables.knows('a'), 'asked');
  tables.respond(table('1'), { nonce: '1', keep: false });
  assert.equal(tables.knows('a'), 'asked');
  tables.request({ ...REQUEST, response_nonce: '1' });
  assert.equal(tables.knows('a'), 'acked');
  tables.respond(table('2'), { nonce: '2', keep: false });
  assert.equal(tables.knows('a'), 'asked');
});

test('parts come in one response of any size, and the first is never empty', () => {
  const parts = new DeltaSubscription(VIRTUAL_HOST, rulesOf(VIRTUAL_HOST));
  parts.request(REQUEST);
  assert.equal(parts.respond(new Map(), { nonce: '1', keep: false }), undefined);
  const text = 'x'.repeat(1024 * 1024);
  const large = new Map(['a/1', 'a/2', 'a/3'].map(name => [name, part(name, text)]));
  assert.equal(parts.respond(large, { nonce: '2', keep: false })?.resources.length, 3);
});

test('parts of a table that is still used are not removed with it, and sent again to who asks again', () => {
  const parts = new DeltaSubscription(VIRTUAL_HOST, rulesOf(VIRTUAL_HOST));
  const ack = (response_nonce: string) => parts.request({ ...REQUEST, response_nonce });
  parts.request(REQUEST);
  parts.respond(map('a/1', 'b/1'), { nonce: '1', keep: false });
  ack('1');
  const keeps = (name: string) => wholeOf(name) === 'a';
  assert.equal(parts.respond(map('b/1'), { nonce: '2', keep: false, keeps }), undefined);
  const other = parts.respond(map('a/2', 'b/1'), { nonce: '2', keep: false });
  assert.deepEqual(
    [other?.resources.map(({ name }) => name), other?.removed_resources],
    [['a/2'], ['a/1']],
  );
  ack('2');
  parts.repeat(name => wholeOf(name) === 'a');
  const told = parts.respond(map('b/1'), { nonce: '3', keep: false, keeps });
  assert.deepEqual([told?.resources.length, told?.removed_resources], [0, ['a/2']]);
  ack('3');
  const again = parts.respond(map('a/1', 'b/1'), { nonce: '4', keep: false });
  assert.deepEqual(
    again?.resources.map(({ name }) => name),
    ['a/1'],
  );
});
