import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import { DeltaSubscription } from './delta-subscription.ts';
import { NameSet } from './name-set.ts';
import { SotwSubscription } from './sotw-subscription.ts';
import { brought, deltaRequest } from './testing/delta-driver.ts';
import { sotwRequest } from './testing/sotw-driver.ts';
import { rulesOf } from './type-rules.ts';

const TYPE = CLUSTER_LOAD_ASSIGNMENT;

test('a set of names counts the bytes of each name once', () => {
  const names = NameSet.of(['a', 'ä', 'a']);
  names.add('a').add('bc');
  assert.equal(names.bytes, 5);
  names.delete('never there');
  names.delete('ä');
  assert.deepEqual([names.bytes, names.size], [3, 2]);
});

test('the names of a state of the world replace those before them, beside what was brought', () => {
  const subscription = new SotwSubscription(TYPE, rulesOf(TYPE));
  subscription.request(sotwRequest({ resource_names: ['aa', 'bb'], version_info: '1' }));
  assert.equal(subscription.bytes, 8);
  subscription.request(sotwRequest({ resource_names: ['c'] }));
  assert.equal(subscription.bytes, 5);
});

test('a delta subscription counts names, what it owes, and what was brought', () => {
  const subscription = new DeltaSubscription(TYPE, rulesOf(TYPE));
  subscription.request(
    deltaRequest({
      resource_names_subscribe: ['aa', '*'],
      initial_resource_versions: brought({ bb: '11' }),
    }),
  );
  assert.equal(subscription.bytes, 2 + 8);
  for (let i = 0; i < 1_000; i += 1) {
    subscription.request(deltaRequest({ resource_names_subscribe: [`n${i}`] }));
    subscription.request(deltaRequest({ resource_names_unsubscribe: [`n${i}`] }));
  }
  assert.ok(
    subscription.size >= 1_000,
    'a client that reads no answers makes us owe what it no longer asks',
  );
  assert.ok(subscription.bytes > 3_000);
});
