import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText } from '#resources/testing/problem-lines.ts';

/** What is left of a route with this spec, beside an error. */
function left(kind: string, spec: object) {
  const text = JSON.stringify({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind,
    metadata: { name: 'x' },
    spec,
  });
  const { resources, rejected } = parseText(text);
  assert.deepEqual(resources, []);
  return rejected[0]?.route;
}

const PARENT = { parentRefs: [{ name: 'g' }] };
const BROKEN = [{ backendRefs: [{ name: 's' }] }];

/** Hosts and paths of what is closed. */
function covered(spec: object): string | undefined {
  const route = left('HTTPRoute', { ...PARENT, rules: BROKEN, ...spec });
  if (route?.kind !== 'HTTPRoute') return undefined;
  const { hostnames, rules } = route.spec;
  assert.ok(rules.every(({ backendRefs, filters }) => backendRefs.length + filters.length === 0));
  const paths = rules.map(({ matches }) => matches.map(({ path }) => path.value).join('|'));
  return `${hostnames.join(' ')} ${paths.join(' ')}`.trim();
}

const path = (value: unknown) => ({ path: { value } });

const CASES: readonly [why: string, spec: object, covers: string | undefined][] = [
  ['a Service without a port', {}, '/'],
  ['a filter without its field', { rules: [{ filters: [{ type: 'CORS' }] }] }, '/'],
  ['one of two hostnames', { hostnames: ['a.example', 'B_'] }, 'a.example /'],
  ['every hostname', { hostnames: ['B_'] }, undefined],
  ['no list of hostnames', { hostnames: 'a.example' }, undefined],
  [
    'one of two matches',
    { rules: [{ matches: [path('/a'), path('b')] }, { matches: [path('/c')] }] },
    '/a /c',
  ],
  ['every match of a rule', { rules: [{ matches: [path('b')] }, ...BROKEN] }, '/'],
  ['every match', { rules: [{ matches: [path('b')] }] }, undefined],
  ['no list of rules', { rules: {} }, undefined],
  ['every parent', { parentRefs: [{ name: '' }] }, undefined],
];

for (const [why, spec, covers] of CASES)
  test(`a rejected HTTPRoute closes what of it is right: ${why}`, () => {
    assert.equal(covered(spec), covers);
  });

test('a rejected GRPCRoute closes its methods', () => {
  const matches = [{ method: { service: 'a.B' } }, { method: {} }];
  assert.deepEqual(left('GRPCRoute', { ...PARENT, rules: [{ matches }] })?.spec.rules, [
    {
      matches: [{ method: { type: 'Exact', service: 'a.B' }, headers: [] }],
      filters: [],
      backendRefs: [],
    },
  ]);
});

test('a rejected route for connections closes them', () => {
  const route = left('TLSRoute', { ...PARENT, hostnames: ['a.example'], rules: [] });
  assert.ok(route?.kind === 'TLSRoute');
  assert.deepEqual(route.spec.hostnames, ['a.example']);
  assert.deepEqual(route.spec.rules, [{ backendRefs: [] }]);
});

test('nothing is left of what is no route', () => {
  assert.equal(left('Gateway', PARENT), undefined);
});
