import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { compile } from '../compile.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { FUZZ_OPTIONS, written } from '../testing/written.ts';

const FILTER = written('Filter', 'default', 'jwt', { JWT: { jwksURI: 'https://idp.test/keys' } });
const policy = (host: string, filters: readonly object[] = [{ name: 'jwt' }]) =>
  written('FilterPolicy', 'default', 'p', { rules: [{ host, filters }] });
const mapping = (fields: object, name = 'm') =>
  written('Mapping', 'default', name, { prefix: '/', service: 's', ...fields });
const host = (hostname: string) => written('Host', 'default', 'h', { hostname });
const SHOP = mapping({ host: 'shop.test' });

/** Returns `<field> <message>` of each Problem that says that a rule protects nothing. */
function told(...documents: readonly object[]): readonly string[] {
  const yaml = [FILTER, ...documents].map(each => stringify(each)).join('---\n');
  return compile(resourceSetOf(yaml).resources, 'edge', FUZZ_OPTIONS)
    .problems.filter(({ message }) => message.includes('protects nothing'))
    .map(({ field, message }) => `${field} ${message}`);
}

test('a rule for a host that nothing is served on has a warning, and the host that was meant', () => {
  const start = 'spec.rules[0].host nothing is served on the host';
  assert.deepEqual(told(SHOP, policy('shopp.test')), [
    `${start} "shopp.test", so the rule protects nothing, did you mean \`shop.test\`?`,
  ]);
  assert.deepEqual(told(SHOP, policy('*.example.com')), [
    `${start} "*.example.com", so the rule protects nothing`,
  ]);
});

const ANY = { host: '*' };
const ROUTE = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'r' },
  spec: { parentRefs: [{ name: 'g' }], hostnames: ['*.route.test'] },
};
const PROXY = written('ProxyConfig', 'default', 'x', {
  node_group: 'edge',
  listener: { port: 5001 },
  virtual_hosts: [
    { name: 'v', domains: ['config.test'], routes: [{ prefix: '/', cluster: 'up' }] },
  ],
  clusters: [{ name: 'up', type: 'static', hosts: [{ url: 'tcp://127.0.0.1:1' }] }],
});

const CASES: readonly [title: string, rule: string, documents: readonly object[], told: number][] =
  [
    ['every host, of a rule', '*', [SHOP], 0],
    ['the host of a Mapping', 'shop.test', [SHOP], 0],
    ['a host that a glob covers', 's*.test', [SHOP], 0],
    ['a host of a wildcard', 'a.b.test', [mapping({ host: '*.test' })], 0],
    ['an IPv6 address', '[::1]', [mapping({ host: '[::1]' })], 0],
    ['an expression for hosts', 'a.test', [mapping({ host: '(a|b).test', host_regex: true })], 0],
    ['a Mapping for every host', 'a.test', [mapping(ANY)], 0],
    ['the name of a Host', 'a.test', [mapping(ANY), host('a.test')], 0],
    ['a host beside the names of Hosts', 'b.test', [mapping(ANY), host('a.test')], 1],
    ['a Host for every name', 'b.test', [mapping(ANY), host('*')], 0],
    ['a Mapping of another node group', 'a.test', [SHOP, mapping({ node_group: 'front' }, 'n')], 1],
    ['a route of Gateway API', 'a.route.test', [SHOP, ROUTE], 0],
    ['a ProxyConfig of the edge', 'config.test', [SHOP, PROXY], 0],
    ['no route at all', 'a.test', [], 0],
    ['a rejected Mapping', 'a.test', [SHOP, mapping({ timeout_ms: 'x' }, 'n')], 0],
  ];

for (const [title, rule, documents, count] of CASES)
  test(`a rule is ${count === 0 ? 'not told' : 'told'} with ${title}`, () =>
    assert.equal(told(...documents, policy(rule)).length, count));

test('a rule without filters protects nothing anyway', () =>
  assert.deepEqual(told(SHOP, policy('shopp.test', [])), []));

test('of very many such rules each is told, without what was meant', () => {
  const rules = Array.from({ length: 150 }, (_, index) => ({
    host: `shop-${index}.tst`,
    filters: [{ name: 'jwt' }],
  }));
  const mappings = Array.from({ length: 100 }, (_, index) =>
    mapping({ host: `shop-${index}.test` }, `m${index}`),
  );
  const all = told(...mappings, written('FilterPolicy', 'default', 'p', { rules }));
  assert.equal(all.length, 150);
  assert.ok(all.every(text => text.endsWith('protects nothing')));
});
