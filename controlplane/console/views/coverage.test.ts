import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { coverageOf } from './coverage.ts';

const policy = (...rules: readonly string[]) => `apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: policy }
spec:
  rules:
${rules.map(rule => `    - ${rule}\n`).join('')}`;

const FILTERS = ['jwt', 'login'].map(
  name => `---
apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: ${name} }
spec: { JWT: { jwksURI: "https://login.example.com/keys" } }
`,
);

/** Returns what is said of Mappings, by their specs. */
function coverageUnder(rules: readonly string[], mappings: readonly string[]) {
  const written = mappings.map(
    (spec, index) => `---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: m${index} }
spec: { service: s, ${spec} }
`,
  );
  const { resources } = resourceSetOf([policy(...rules), ...FILTERS, ...written].join(''));
  assert.equal(resources.mappings.length, mappings.length);
  assert.equal(resources.filterPolicies[0]?.spec.rules.length, rules.length);
  const { ofMapping } = coverageOf(resources);
  return resources.mappings.map(({ spec }) => ofMapping(spec).covered);
}

const JWT = 'filters: [{ name: jwt }]';

const COVERED: readonly (readonly [
  mapping: string,
  covered: string,
  ...rules: readonly string[],
])[] = [
  ['host: a.test, prefix: /', 'all', `{ host: a.test, path: "*", ${JWT} }`],
  ['host: a.test, prefix: /', 'all', `{ host: "*.test", path: "/*", ${JWT} }`],
  ['host: a.test, prefix: /', 'none', `{ host: b.test, path: "*", ${JWT} }`],
  // An earlier rule lets a part pass, as in the tutorial.
  [
    'host: a.test, prefix: /',
    'part',
    '{ host: a.test, path: "/public/*" }',
    `{ host: a.test, path: "*", ${JWT} }`,
  ],
  ['prefix: /', 'part', '{ host: a.test, path: "/*" }', `{ path: "*", ${JWT} }`],
  ['prefix: /', 'all', `{ path: "*", ${JWT} }`, '{ path: "/public/*" }'],
  ['prefix: /', 'none', '{ path: "*" }', `{ path: "/admin/*", ${JWT} }`],
  // Requests that an item is not for, or that it denies, go on.
  [
    'prefix: /',
    'part',
    '{ path: "*", filters: [{ name: jwt, ifRequestHeader: { name: x-api } }] }',
  ],
  ['prefix: /', 'part', '{ path: "*", filters: [{ name: jwt, onDeny: continue }] }'],
  [
    'prefix: /',
    'all',
    '{ path: "*", filters: [{ name: jwt, onDeny: continue, onAllow: break }, { name: login }] }',
  ],
  // Rules for some of the paths.
  ['prefix: /', 'part', `{ path: "/", ${JWT} }`, `{ path: "/a*", ${JWT} }`],
  ['prefix: /', 'part', `{ path: "/api/*", ${JWT} }`],
  ['prefix: /api', 'part', `{ path: "/api/*", ${JWT} }`],
  ['prefix: /api/', 'all', `{ path: "/api/*", ${JWT} }`],
  ['prefix: /%61pi/', 'all', `{ path: "/api/*", ${JWT} }`],
  ['prefix: /api, prefix_exact: true', 'all', `{ path: "/api", ${JWT} }`],
  ['prefix: /api, prefix_exact: true', 'none', `{ path: "/api/*", ${JWT} }`],
  ['prefix: "/api/v[0-9]+", prefix_regex: true', 'all', `{ path: "/api/*", ${JWT} }`],
  ['prefix: "/api/v[0-9]+", prefix_regex: true', 'part', `{ path: "/api/v1", ${JWT} }`],
  ['prefix: "/api/v|/", prefix_regex: true', 'part', `{ path: "/api/*", ${JWT} }`],
  // Rules for some of the hosts.
  ['prefix: /', 'part', `{ host: a.test, path: "*", ${JWT} }`],
  ['host: "*.test", prefix: /', 'part', `{ host: a.test, path: "*", ${JWT} }`],
  ['host: "*.test", prefix: /', 'all', `{ host: "*.test", path: "*", ${JWT} }`],
  ['host: "*.test", prefix: /', 'none', `{ host: "*.example", path: "*", ${JWT} }`],
  ['host: "::1", prefix: /', 'all', `{ host: "[::1]", path: "*", ${JWT} }`],
];

for (const [mapping, covered, ...rules] of COVERED)
  test(`of ${mapping}, ${covered} is covered by ${rules.join(' and ')}`, () => {
    assert.deepEqual(coverageUnder(rules, [mapping]), [covered]);
  });

test('a Mapping is closed when the rule for it names a Filter that is not there', () => {
  const none = 'filters: [{ name: jwt }, { name: none }]';
  assert.deepEqual(coverageUnder([`{ path: "*", ${none} }`], ['prefix: /']), ['closed']);
  assert.deepEqual(coverageUnder([`{ path: "/a/*", ${none} }`], ['prefix: /']), ['part']);
  const rules = [`{ path: "/a/*", ${none} }`, `{ path: "*", ${JWT} }`];
  assert.deepEqual(coverageUnder(rules, ['prefix: /', 'prefix: /a/']), ['all', 'closed']);
});

test('a closed Mapping is not open, and no Filter counts there', () => {
  const closed = 'prefix: /, closed: true';
  assert.deepEqual(coverageUnder([`{ path: /other, ${JWT} }`], [closed]), ['closed']);
  assert.deepEqual(coverageUnder([`{ ${JWT} }`], [`${closed}, bypass_auth: true`]), ['closed']);
  assert.deepEqual(coverageUnder([`{ ${JWT} }`], [`${closed}, node_group: front`]), ['closed']);
});

test('a Mapping is bypassed unless it shares its route with one that is not', () => {
  const bypass = 'prefix: /, bypass_auth: true, weight: 50';
  const rules = [`{ path: "*", ${JWT} }`];
  assert.deepEqual(coverageUnder(rules, [bypass, bypass]), ['bypass', 'bypass']);
  assert.deepEqual(coverageUnder(rules, [bypass, 'prefix: /, weight: 50']), ['all', 'all']);
  const other = 'prefix: /, host: a.test';
  assert.deepEqual(coverageUnder(rules, [bypass, other]), ['bypass', 'all']);
});
