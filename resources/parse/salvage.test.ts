import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReadableRule } from '#resources/resource.ts';
import { parseText } from '#resources/testing/problem-lines.ts';

function salvaged(spec: string, head = 'metadata: {name: p}'): readonly ReadableRule[] | undefined {
  const parsed = parseText(
    `apiVersion: gateway.internal/v2\nkind: FilterPolicy\n${head}\nspec: ${spec}\n`,
  );
  assert.equal(parsed.rejected.length, 1, 'it is rejected');
  return parsed.rejected[0]?.rules;
}

/**
 * What a rejected policy covers. A rule without `host` or `path` covers every one. Without rules
 * everything is covered.
 */
const CASES: readonly [what: string, spec: string, rules: readonly ReadableRule[] | undefined][] = [
  [
    'a mistake elsewhere',
    '{rules: [{host: a, path: /b}, {path: /c}, {host: d}, {}], other: 1}',
    [
      { host: 'a', path: '/b' },
      { host: '*', path: '/c' },
      { host: 'd', path: '*' },
      { host: '*', path: '*' },
    ],
  ],
  [
    'a mistake in one filter',
    '{rules: [{path: /a, filters: [{nam: x}]}, {path: /b}]}',
    [
      { host: '*', path: '/a' },
      { host: '*', path: '/b' },
    ],
  ],
  ['a misspelt field of a rule', '{rules: [{host: a, pth: /b}]}', [{ host: 'a', path: '*' }]],
  ['a host of another form', '{rules: [{host: [x], path: /b}]}', [{ path: '/b' }]],
  ['a host with a port', '{rules: [{host: "a:80", path: /b}]}', [{ path: '/b' }]],
  [
    'a host in another spelling',
    '{rules: [{host: A.b., path: /b}], other: 1}',
    [{ host: 'a.b', path: '/b' }],
  ],
  ['a path that no request has', '{rules: [{host: a, path: admin/*}]}', [{ host: 'a' }]],
  ['a path of another form', '{rules: [{host: a, path: 5}]}', [{ host: 'a' }]],
  ['a rule that is none', '{rules: [5, {host: a}]}', [{}, { host: 'a', path: '*' }]],
  ['a host in two letter cases', '{rules: [{host: a, Host: b, path: /c}]}', [{ path: '/c' }]],
  ['a path twice', '{rules: [{host: a, path: /b, path: /c}]}', [{ host: 'a' }]],
  ['rules twice', '{rules: [{path: /a}], rules: [{path: /b}]}', undefined],
  ['rules in two letter cases', '{rules: [{path: /a}], Rules: [{path: /b}]}', undefined],
  ['rules of another form', '{rules: nonsense}', undefined],
  ['rules under another name', '{rule: [{path: /a}]}', undefined],
  ['no rules', '{}', undefined],
  ['no spec', '[]', undefined],
  ['a null for host', '{rules: [{host: null, path: /b}], other: 1}', [{ host: '*', path: '/b' }]],
];

for (const [what, spec, rules] of CASES) {
  test(`a FilterPolicy with ${what} closes what it may have covered`, () => {
    assert.deepEqual(salvaged(spec), rules);
  });
}

test('spec twice: nobody knows which was meant', () => {
  assert.equal(salvaged('{rules: [{path: /a}]}\nspec: {rules: []}'), undefined);
});

test('a policy that is rejected for its name keeps what it covers', () => {
  assert.deepEqual(salvaged('{rules: [{path: /a}]}', 'metadata: {name: A_b}'), [
    { host: '*', path: '/a' },
  ]);
});

test('a policy of an old version keeps what it covers', () => {
  const text =
    'apiVersion: getambassador.io/v1\nkind: FilterPolicy\nmetadata: {name: p}\nspec: {rules: [{path: /a}]}\n';
  assert.deepEqual(parseText(text).rejected[0]?.rules, [{ host: '*', path: '/a' }]);
});

test('a policy that breaks off may have covered anything', () => {
  const text =
    'apiVersion: gateway.internal/v2\nkind: FilterPolicy\nmetadata: {name: p}\nspec: {rules: [{path: /a}';
  const [rejected] = parseText(text).rejected;
  assert.deepEqual([rejected?.name, rejected?.rules], ['p', undefined]);
});

/** What a rejected ProxyConfig leaves closed. What cannot be read of it is left out. */
for (const [what, spec, wanted] of [
  [
    'a mistake in a cluster',
    '{node_group: edge, virtual_hosts: [{name: a, domains: [A.test, "*"], routes: [{prefix: /a, cluster: c}]}], clusters: 5}',
    { node_group: 'edge', hosts: [{ domains: ['a.test', '*'], prefixes: ['/a'] }] },
  ],
  [
    'a domain and a prefix that cannot be read',
    '{node_group: side, virtual_hosts: [{domains: ["a.*", b.test], routes: [{prefix: a}, {prefix: /b}, 5]}, 5, {domains: c.test}]}',
    {
      node_group: 'side',
      hosts: [
        { domains: ['b.test'], prefixes: ['/b'] },
        { domains: [], prefixes: [] },
      ],
    },
  ],
  ['a node group that cannot be read', '{node_group: 5, virtual_hosts: []}', undefined],
  ['virtual hosts of another form', '{node_group: edge, virtual_hosts: a}', undefined],
] as const) {
  test(`a ProxyConfig with ${what} closes what it would have served`, () => {
    const head = 'apiVersion: gateway.internal/v2\nkind: ProxyConfig\nmetadata: {name: p}';
    const { rejected } = parseText(`${head}\nspec: ${spec}\n`);
    assert.deepEqual([rejected.length, rejected[0]?.virtualHosts], [1, wanted]);
  });
}
