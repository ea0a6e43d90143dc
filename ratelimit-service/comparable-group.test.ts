import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparableGroup } from './comparable-group.ts';
import { compileLimits } from './limits-index.ts';
import { planHits } from './plan.ts';
import { limitsOf } from './testing/limits.ts';
import { requestOf } from './testing/requests.ts';

const SHOP = { name: 'shop', pattern: ['tenant', 'host=Shop.Example.com'] };
const ANY = { name: 'any', pattern: ['tenant'] };
const CLIENT = { name: 'client', pattern: ['remote_address'] };
const HOME = { name: 'home', pattern: ['remote_address=2001:DB8:0:0:7::1'] };
const LOGIN = { name: 'login', pattern: ['path=/Login'] };
const MEANINGS = { host_keys: ['host'], path_keys: ['path'], ipv6_prefix: 64 };
const INDEX = compileLimits([
  ...limitsOf('d', [SHOP, CLIENT, HOME, LOGIN], MEANINGS),
  ...limitsOf('d', [ANY], { ipv6_prefix: 64 }),
  ...limitsOf('e', [ANY]),
]);

/** Returns the name of the limit that a group meets, and the key of its counter. */
function met(group: string): readonly [name: string | undefined, counter: string | undefined] {
  const { groups, hits } = planHits(requestOf([group]), INDEX);
  return [groups[0]?.limits[0]?.name, hits[0]?.group];
}

test('a host in any letter case meets the limit of the host, and one counter', () => {
  const [name, counter] = met('tenant=A host=shop.example.com');
  assert.equal(name, 'shop');
  for (const host of [
    'SHOP.example.com',
    'Shop.Example.com',
    'shop.example.com:8080',
    'shop.example.COM:x',
  ])
    assert.deepEqual(met(`tenant=A host=${host}`), [name, counter]);
});

test('a host beyond the pattern of the limit makes no other counter by its letter case', () => {
  const [name, counter] = met('tenant=A more=x host=a.example.com');
  assert.equal(name, 'any');
  assert.deepEqual(met('tenant=A more=x host=A.example.com'), [name, counter]);
  assert.notEqual(met('tenant=A more=x host=b.example.com')[1], counter);
});

test('addresses of one /64 meet one limit and one counter, and IPv4 addresses one each', () => {
  const [name, counter] = met('remote_address=2001:db8:0:1::1');
  assert.equal(name, 'client');
  assert.deepEqual(met('remote_address=2001:db8:0:1:ffff:ffff:ffff:ffff'), [name, counter]);
  assert.notEqual(met('remote_address=2001:db8:0:2::1')[1], counter);
  assert.equal(met('remote_address=2001:db8::9')[0], 'home');
  assert.deepEqual(met('remote_address=192.0.2.7'), ['client', '14:remote_address9:192.0.2.7']);
});

test('a path with a query, parameters, a last slash or other letters meets the limit of the path', () => {
  const [name, counter] = met('path=/login');
  assert.equal(name, 'login');
  for (const path of ['/login?x=1', '/login/', '/LOGIN', '/login;jsessionid=1', '/login?'])
    assert.deepEqual(met(`path=${path}`), [name, counter]);
  assert.equal(met('path=/login/x')[0], undefined);
});

test('a host with a port meets the limit of the host', () => {
  assert.deepEqual(
    met('tenant=A host=shop.example.com:8443'),
    met('tenant=A host=shop.example.com'),
  );
});

test('other labels keep their letter case, and all labels of other domains', () => {
  assert.notEqual(met('tenant=A host=x')[1], met('tenant=a host=x')[1]);
  const group = [{ key: 'host', value: 'X' }];
  assert.deepEqual(comparableGroup(INDEX, 'd', group), [{ key: 'host', value: 'x' }]);
  assert.deepEqual(group, [{ key: 'host', value: 'X' }]);
  assert.equal(comparableGroup(INDEX, 'e', group), group);
});
