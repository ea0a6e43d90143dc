import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpRouteMatch } from '#resources/kinds/http-route/http-route-match.ts';
import { parseText } from '#resources/testing/problem-lines.ts';
import { isAssumed } from './assumed-rule.ts';

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
  const paths = rules
    .filter(rule => !isAssumed(rule))
    .map(({ matches }) => matches.map(({ path }) => path.value).join('|'));
  return `${hostnames.join(' ')} ${paths.join(' ')}`.trim();
}

const path = (value: unknown) => ({ path: { value } });

const CASES: readonly [why: string, spec: object, covers: string | undefined][] = [
  ['a Service without a port', {}, '/'],
  ['a filter without its field', { rules: [{ filters: [{ type: 'CORS' }] }] }, '/'],
  ['one of two hostnames', { hostnames: ['a.example', 'B_'] }, 'a.example /'],
  ['every hostname', { hostnames: ['B_'] }, ''],
  ['no list of hostnames', { hostnames: 'a.example' }, ''],
  [
    'one of two matches',
    { rules: [{ matches: [path('/a'), path('b')] }, { matches: [path('/c')] }] },
    '/a /c',
  ],
  ['every match of a rule', { rules: [{ matches: [path('b')] }, ...BROKEN] }, '/'],
  ['every match', { rules: [{ matches: [path('b')] }] }, ''],
  ['no list of rules', { rules: {} }, ''],
  ['every parent', { parentRefs: [{ name: '' }] }, undefined],
];

for (const [why, spec, covers] of CASES)
  test(`a rejected HTTPRoute closes what of it is right: ${why}`, () => {
    assert.equal(covered(spec), covers);
  });

test('a rejected route closes what it has of each of its parents', () => {
  const parentRefs = Array.from({ length: 33 }, (_, at) => ({ name: `g${at}` }));
  for (const count of [1, 32, 33]) {
    const spec = { parentRefs: parentRefs.slice(0, count), rules: BROKEN };
    assert.equal(left('HTTPRoute', spec)?.spec.parentRefs.length, count);
  }
});

/** What a match that cannot be read may be for, as its rule is assumed to be. */
function assumed(match: unknown, kind = 'HTTPRoute') {
  const route = left(kind, { ...PARENT, rules: [{ matches: [match] }] });
  const [rule, ...others] = route?.spec.rules ?? [];
  assert.ok(rule !== undefined && others.length === 0 && isAssumed(rule) && 'matches' in rule);
  return (rule.matches as readonly Readonly<Record<string, unknown>>[])[0] ?? {};
}

const PATHS: readonly [type: string, value: string, covers: readonly string[], not: string][] = [
  ['RegularExpression', '/secret/(?!x)[a-z]+', ['/secret/x', '/secret/'], '/secretx'],
  ['RegularExpression', '^\\/secret\\/(?!x)', ['/secret/x'], '/secretx'],
  ['RegularExpression', '/secrets?(?!x)', ['/secret', '/secrets'], '/secre'],
  ['RegularExpression', '/secret/(a|b)(?!x)', ['/secret/a'], '/other'],
  ['RegularExpression', '/secret/(?!x)|/other', ['/secret/a', '/other'], 'x?'],
  ['RegularExpression', '/a(?!b)(c)|(d)', ['/a', '/d'], 'x?'],
  ['RegularExpression', '/a[(](?!b)|/b', ['/b'], 'x?'],
  ['RegularExpression', '(?i)/secret(?!x)', ['/SECRET'], 'x?'],
  ['PathPrefix', '/secret/{id}', ['/secret/x'], '/secretx'],
  ['PathPrefix', '/a.b/{id}', ['/a.b/x'], '/c'],
  ['PathPrefix', 'secret', ['/secret', '/x'], 'x?'],
  ['PathPrefix', '//secret', ['/secret'], 'x?'],
  ['Regex', '/secret|/other', ['/other'], 'x?'],
];

for (const [type, value, covers, not] of PATHS)
  test(`a path that cannot be read may be for all that begin like it: ${type} ${value}`, () => {
    const { path } = assumed({ path: { type, value } });
    const { data } = httpRouteMatch.shape.path.safeParse(path);
    assert.equal(data?.type, 'RegularExpression');
    const expression = new RegExp(`^(?:${data?.value})$`);
    for (const each of covers) assert.match(each, expression);
    assert.doesNotMatch(not, expression);
    assert.ok((data?.value.length ?? 0) >= value.length, 'its rank');
  });

for (const [type, value] of [
  ['RegularExpression', `/${'x'.repeat(1023)}`],
  ['PathPrefix', `/${'x'.repeat(1010)}/{id}`],
])
  test(`a path that cannot be read may be as long as it can be: ${type}`, () => {
    const { path } = assumed({ path: { type, value } });
    const { data } = httpRouteMatch.shape.path.safeParse(path);
    assert.match(value ?? '', new RegExp(`^(?:${data?.value})$`));
    assert.doesNotMatch('/xy', new RegExp(`^(?:${data?.value})$`));
  });

test('of more conditions than a match may have the first ones stay', () => {
  const conditions = Array.from({ length: 17 }, (_, at) => ({ name: `x${at}`, value: 'y' }));
  const { headers, queryParams } = assumed({ headers: conditions, queryParams: conditions });
  const right = conditions.slice(0, 16).map(each => ({ type: 'Exact', ...each }));
  assert.deepEqual([headers, queryParams], [right, right]);
});

test('a condition that cannot be read may be any of its name, and the others stay', () => {
  const odd = { type: 'RegularExpression', name: 'x', value: '(?!x)' };
  const right = { type: 'Exact', name: 'y', value: 'z' };
  const path = { value: '/a' };
  const match = { path, method: 'get', headers: [odd, right, 1], queryParams: [odd] };
  const any = { ...odd, value: '.*' };
  assert.deepEqual(assumed(match), {
    path: { type: 'PathPrefix', value: '/a' },
    headers: [any, right],
    queryParams: [any],
  });
});

const CALLS: readonly [method: object, call: object | undefined][] = [
  [{}, undefined],
  [
    { service: 'a.B', method: '-' },
    { type: 'Exact', service: 'a.B' },
  ],
  [{ service: '-' }, undefined],
  [
    { type: 'RegularExpression', service: 'a.B', method: '(?!abcd)' },
    { type: 'RegularExpression', service: 'a.B', method: '[^////]*' },
  ],
];

for (const [method, call] of CALLS)
  test(`a call that cannot be read may be for more: ${JSON.stringify(method)}`, () => {
    assert.deepEqual(assumed({ method }, 'GRPCRoute'), {
      ...(call && { method: call }),
      headers: [],
    });
  });

test('of more rules and matches than a route may have the others stand for anything', () => {
  const matches = Array.from({ length: 65 }, (_, at) => ({ path: { value: `/${at}` } }));
  const rules = [{ matches }, ...Array.from({ length: 16 }, () => ({ matches: [{}] }))];
  const last = { filters: [{ extensionRef: { name: 'f' } }] };
  const spec = left('HTTPRoute', { ...PARENT, rules: [...rules, last] })?.spec;
  const found = (spec?.rules ?? []).map(rule => [
    'matches' in rule && Array.isArray(rule.matches) && rule.matches.length,
    isAssumed(rule) && rule.namesFilter,
  ]);
  assert.deepEqual(found.slice(0, 2), [
    [64, false],
    [1, false],
  ]);
  assert.deepEqual(
    found.slice(2, 17),
    Array.from({ length: 15 }, () => [1, false]),
  );
  assert.deepEqual(found.slice(17), [[1, true]]);
});

test('a rule that names a Filter says so, and keeps the name by which a policy finds it', () => {
  const matches = [{ path: { value: 'b' } }];
  const filters = [{ type: 'ExtensionRef', extensionRef: { name: 'f' } }];
  const rules = [{ name: 'own', matches, filters }, { name: 'bare', matches }, 1];
  const spec = left('HTTPRoute', { ...PARENT, rules })?.spec;
  const found = (spec?.rules ?? []).map(rule => isAssumed(rule) && { ...rule, matches: 0 });
  const closed = { matches: 0, filters: [], backendRefs: [] };
  assert.deepEqual(found, [
    { ...closed, name: 'own', namesFilter: true },
    { ...closed, name: 'bare', namesFilter: false },
    { ...closed, namesFilter: false },
  ]);
});

test('a rejected GRPCRoute closes its methods', () => {
  const matches = [{ method: { service: 'a.B' } }, { method: {} }];
  const rules = left('GRPCRoute', { ...PARENT, rules: [{ matches }] })?.spec.rules ?? [];
  assert.deepEqual(
    rules.filter(rule => !isAssumed(rule)),
    [
      {
        matches: [{ method: { type: 'Exact', service: 'a.B' }, headers: [] }],
        filters: [],
        backendRefs: [],
      },
    ],
  );
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
