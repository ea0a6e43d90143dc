import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparableGroup } from './comparable-group.ts';
import { compileLimits } from './limits-index.ts';
import { planHits } from './plan.ts';
import { limitsOf } from './testing/limits.ts';
import { requestOf } from './testing/requests.ts';

const SHOP = { name: 'shop', pattern: ['tenant', 'host=Shop.Example.com'] };
const ANY = { name: 'any', pattern: ['tenant'] };
const INDEX = compileLimits([
  ...limitsOf('d', [SHOP], ['host']),
  ...limitsOf('d', [ANY]),
  ...limitsOf('e', [ANY]),
]);

/** The name of the limit that a group meets, and the key of its counter. */
function met(group: string): readonly [name: string | undefined, counter: string | undefined] {
  const { groups, hits } = planHits(requestOf([group]), INDEX);
  return [groups[0]?.limits[0]?.name, hits[0]?.group];
}

test('a host in any letter case meets the limit of the host, and one counter', () => {
  const [name, counter] = met('tenant=A host=shop.example.com');
  assert.equal(name, 'shop');
  for (const host of ['SHOP.example.com', 'Shop.Example.com', 'shop.example.com:8080', 'shop.example.COM:x'])
    assert.deepEqual(met(`tenant=A host=${host}`), [name, counter]);
});

test('a host beyond the pattern of the limit makes no other counter by its letter case', () => {
  const [name, counter] = met('tenant=A more=x host=a.example.com');
  assert.equal(name, 'any');
  assert.deepEqual(met('tenant=A more=x host=A.example.com'), [name, counter]);
  assert.notEqual(met('tenant=A more=x host=b.example.com')[1], counter);
});

test('other labels keep their letter case, and all labels of other domains', () => {
  assert.notEqual(met('tenant=A host=x')[1], met('tenant=a host=x')[1]);
  const group = [{ key: 'host', value: 'X' }];
  assert.deepEqual(comparableGroup(INDEX, 'd', group), [{ key: 'host', value: 'x' }]);
  assert.equal(comparableGroup(INDEX, 'e', group), group);
});
