import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { compile } from '../compile.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { FUZZ_OPTIONS, written } from '../testing/written.ts';

const POLICY = written('FilterPolicy', 'default', 'p', {
  rules: [{ path: '/a/open*' }, { host: '*.a.test', path: '/a/*', filters: [{ name: 'jwt' }] }],
});
const mapping = (name: string, fields: object) =>
  written('Mapping', 'default', name, { service: 's', node_group: 'front', ...fields });
const PROXY = written('ProxyConfig', 'default', 'front', {
  node_group: 'front',
  listener: { port: 5001 },
  virtual_hosts: [{ name: 'all', domains: ['*'], routes: [{ prefix: '/', cluster: 'up' }] }],
  clusters: [{ name: 'up', type: 'static', hosts: [{ url: 'tcp://127.0.0.1:1' }] }],
});

/** Returns `<name> <field> <message>` of each Problem of the group. */
function warnings(...documents: readonly object[]): readonly string[] {
  const yaml = [POLICY, PROXY, ...documents].map(each => stringify(each)).join('---\n');
  return compile(resourceSetOf(yaml).resources, 'front', FUZZ_OPTIONS).problems.map(
    ({ field, message, name }) => `${name} ${field} ${message}`,
  );
}

test('a Mapping of another node group that a rule with Filters may match has a warning', () => {
  const [warning = '', ...others] = warnings(mapping('m', { prefix: '/a/' }));
  assert.equal(
    warning,
    'm spec.node_group no Filters run in node group front, only at the edge: clients that reach its proxies pass without those of spec.rules[1] of FilterPolicy default/p',
  );
  assert.deepEqual(others, []);
});

for (const [title, fields, told] of [
  ['a host of the rule', { prefix: '/', host: 'x.a.test' }, true],
  ['another host', { prefix: '/a/', host: 'b.test' }, false],
  ['another path', { prefix: '/b/' }, false],
  ['another exact path', { prefix: '/a', prefix_exact: true }, false],
  ['a path that a rule opens', { prefix: '/a/open/' }, false],
  ['an expression', { prefix: '/(a|b)/.*', prefix_regex: true }, true],
  ['bypass_auth', { prefix: '/a/', bypass_auth: true }, false],
  ['copies alone', { prefix: '/a/', shadow: true }, false],
] as const)
  test(`a Mapping of another node group with ${title} ${told ? 'is told' : 'is not'}`, () => {
    const found = warnings(mapping('m', fields)).filter(text => text.includes('no Filters run'));
    assert.equal(found.length, told ? 1 : 0);
  });

test('proxies that a route of another group leads to have none', () => {
  const inner = mapping('inner', { prefix: '/a/' });
  const edge = (fields: object) =>
    mapping('outer', { prefix: '/shop/', node_group: 'edge', service: 'front', ...fields });
  assert.deepEqual(warnings(inner, edge({ resolver: 'sds' })), []);
  assert.equal(warnings(inner, edge({ service: 'other' })).length, 1);
});
