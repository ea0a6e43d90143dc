import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grpcRouteSchema } from '#resources/kinds/grpc-route/grpc-route-spec.ts';
import { httpRouteSchema } from '#resources/kinds/http-route/http-route-spec.ts';
import { grpcMatch, httpMatch } from './route-matches.ts';
import { compareRanks } from './served-rank.ts';

const PARENT = { parentRefs: [{ name: 'gateway' }] };

function ofHttp(match: object) {
  const { rules } = httpRouteSchema.parse({ ...PARENT, rules: [{ matches: [match] }] });
  const [first] = rules[0]?.matches ?? [];
  assert.ok(first !== undefined);
  return httpMatch(first);
}

function ofGrpc(match: object) {
  const { rules } = grpcRouteSchema.parse({ ...PARENT, rules: [{ matches: [match] }] });
  const [first] = rules[0]?.matches ?? [];
  assert.ok(first !== undefined);
  return grpcMatch(first);
}

const PATHS: readonly [path: object, match: object, prefix: string | undefined][] = [
  [{}, { prefix: '/' }, ''],
  [{ type: 'PathPrefix', value: '/a' }, { path_separated_prefix: '/a' }, '/a'],
  [{ type: 'PathPrefix', value: '/a/' }, { path_separated_prefix: '/a' }, '/a'],
  [{ type: 'Exact', value: '/a/' }, { path: '/a/' }, undefined],
  [{ type: 'RegularExpression', value: '/a.*' }, { safe_regex: { regex: '/a.*' } }, undefined],
];

for (const [path, match, prefix] of PATHS) {
  test(`the path ${JSON.stringify(path)} becomes ${JSON.stringify(match)}`, () => {
    const found = ofHttp({ path });
    assert.deepEqual(found.match, match);
    assert.equal(found.prefix, prefix);
  });
}

test('method, headers and parameters are conditions of one match', () => {
  const { match, rank } = ofHttp({
    method: 'POST',
    headers: [
      { name: 'X-One', value: '1' },
      { name: 'x-two', value: '[2]', type: 'RegularExpression' },
    ],
    queryParams: [{ name: 'Q', value: '3' }],
  });
  assert.deepEqual(match, {
    prefix: '/',
    headers: [
      { name: ':method', string_match: { exact: 'POST' } },
      { name: 'x-one', string_match: { exact: '1' } },
      { name: 'x-two', string_match: { safe_regex: { regex: '[2]' } } },
    ],
    query_parameters: [{ name: 'Q', string_match: { exact: '3' } }],
  });
  assert.deepEqual(rank, { path: 'prefix', length: 0, hasMethod: true, headers: 2, query: 1 });
});

test('a slash at the end of a prefix is no character of it', () => {
  const lengthOf = (path: object) => ofHttp({ path }).rank.length;
  assert.equal(lengthOf({ value: '/a/' }), lengthOf({ value: '/a' }));
  assert.equal(lengthOf({ type: 'Exact', value: '/a/' }), 3);
});

test('of two conditions on a header the first counts', () => {
  const { match } = ofHttp({
    headers: [
      { name: 'x-one', value: '1' },
      { name: 'X-One', value: '2' },
    ],
  });
  assert.deepEqual(match.headers, [{ name: 'x-one', string_match: { exact: '1' } }]);
});

const CALLS: readonly [method: object | undefined, match: object][] = [
  [undefined, { prefix: '/' }],
  [{ service: 'a.B', method: 'C' }, { path: '/a.B/C' }],
  [{ service: 'a.B' }, { prefix: '/a.B/' }],
  [{ method: 'C' }, { safe_regex: { regex: '/[^/]+/C' } }],
  [{ type: 'RegularExpression', service: 'a|b' }, { safe_regex: { regex: '/(?:a|b)/[^/]+' } }],
  [
    { type: 'RegularExpression', service: 'a', method: 'b.*' },
    { safe_regex: { regex: '/(?:a)/(?:b.*)' } },
  ],
];

for (const [method, match] of CALLS) {
  test(`the call ${JSON.stringify(method)} becomes ${JSON.stringify(match)}`, () => {
    const { match: made } = ofGrpc(method === undefined ? {} : { method });
    assert.deepEqual(made, { ...match, grpc: {} });
  });
}

test('calls are tried by the length of their service, then by that of their method', () => {
  const sorted = [
    { service: 'a.Long', method: 'C' },
    { service: 'a.Long' },
    { service: 'a.B', method: 'Much' },
    { service: 'a.B', method: 'C' },
    { service: 'a.B' },
    { method: 'VeryLongMethod' },
  ];
  const rest = { hostname: '*', isCall: true, created: '', name: 'a/b', rule: 0, match: 0 };
  const ranked = sorted.map(method => ({ method, rank: { ...ofGrpc({ method }).rank, ...rest } }));
  const found = ranked.toReversed().sort((a, b) => compareRanks(a.rank, b.rank));
  assert.deepEqual(
    found.map(({ method }) => method),
    sorted,
  );
});
