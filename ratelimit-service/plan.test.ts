import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findType } from '#protos/root.ts';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import type { Hit } from './counter-store.ts';
import { compileLimits } from './limits-index.ts';
import { type Plan, planHits } from './plan.ts';
import type { RateLimitRequest } from './request.ts';
import { type LimitJson, label, limitsOf } from './testing/limits.ts';
import { requestOf } from './testing/requests.ts';

function plan(limits: readonly LimitJson[], request: RateLimitRequest): Plan {
  return planHits(request, compileLimits(limitsOf('d', limits)));
}

function adds(limits: readonly LimitJson[], request: RateLimitRequest): readonly number[] {
  return plan(limits, request).hits.map(({ add }) => add);
}

const A = { pattern: ['a'] };

test('every descriptor has its group, also those that nothing matches', () => {
  const { groups, hits } = plan([A], requestOf(['b=1', 'a=1', 'a=2']));
  assert.deepEqual(
    groups.map(({ limits }) => limits.length),
    [0, 1, 1],
  );
  assert.deepEqual(
    groups.map(group => group.hits),
    [[], [0], [1]],
  );
  assert.equal(hits.length, 2);
});

test('a limit counts in windows of its unit', () => {
  for (const [unit, windowMs] of [
    ['SECOND', 1_000],
    ['MINUTE', 60_000],
    ['HOUR', 3_600_000],
    ['DAY', 86_400_000],
  ] as const) {
    assert.equal(plan([{ ...A, unit }], requestOf(['a=1'])).hits[0]?.windowMs, windowMs);
  }
});

test('labels beyond the pattern count apart', () => {
  const keys = plan([A], requestOf(['a=1', 'a=1 b=1', 'a=1 b=2'])).hits.map(keyOf);
  assert.equal(new Set(keys).size, 3);
});

test('two limits of one pattern and unit share a counter, which counts a request once', () => {
  const { groups, hits } = plan(
    [A, { ...A, rate: 9, action: 'LOG_ONLY' }, { ...A, unit: 'HOUR' }],
    requestOf(['a=1']),
  );
  assert.deepEqual(groups[0]?.hits, [0, 0, 1]);
  assert.deepEqual(
    hits.map(({ add }) => add),
    [1, 1],
  );
});

test('the same group twice in one request counts once', () => {
  const { groups, hits } = plan([A], requestOf(['a=1', 'a=1']));
  assert.deepEqual(
    groups.map(group => group.hits),
    [[0], [0]],
  );
  assert.deepEqual(
    hits.map(({ add }) => add),
    [1],
  );
});

test('the same group in two patterns of two domains has two counters', () => {
  const index = compileLimits([...limitsOf('d', [A]), ...limitsOf('e', [A])]);
  const key = (domain: string) =>
    planHits({ ...requestOf(['a=1']), domain }, index).hits[0]?.counter;
  assert.notEqual(key('d'), key('e'));
});

const ADDENDS: readonly [
  what: string,
  groups: readonly string[],
  hits: number,
  adds: readonly number[],
][] = [
  ['a request that says nothing counts as one', ['a=1'], 0, [1]],
  ["a request's addend is counted", ['a=1', 'a=2'], 7, [7, 7]],
  ["a descriptor's own addend is counted instead", ['a=1 +3', 'a=2'], 7, [3, 7]],
  ["a descriptor's addend of 0 only looks", ['a=1 +0', 'a=2'], 7, [0, 7]],
  ['of the same group twice the greater addend counts', ['a=1 +2', 'a=1 +5', 'a=1 +0'], 0, [5]],
  ['an addend beyond every rate is cut to one more than any', [`a=1 +${2 ** 60}`], 0, [2 ** 32]],
  ['the greatest addend of a request is counted in full', ['a=1'], 2 ** 32 - 1, [2 ** 32 - 1]],
];

for (const [what, groups, hits, expected] of ADDENDS) {
  test(what, () => assert.deepEqual(adds([A], requestOf(groups, hits)), expected));
}

const WIRE: readonly [value: string, add: number][] = [
  ['0', 0],
  ['5', 5],
  ['4294967295', 4_294_967_295],
  ['4294967296', 4_294_967_296],
  ['18446744073709551615', 4_294_967_296],
];

for (const [value, add] of WIRE) {
  test(`an addend of ${value} on the wire adds ${add}`, () => {
    const type = findType('envoy.service.ratelimit.v3.RateLimitRequest');
    assert.ok(type);
    const json = {
      domain: 'd',
      descriptors: [{ entries: [label('a=1')], hits_addend: { value } }],
    };
    const request = type.decode(
      type.encode(type.fromObject(json)).finish(),
    ) as unknown as RateLimitRequest;
    assert.deepEqual(adds([A], request), [add]);
  });
}

test('hits that a proxy takes back are not added', () => {
  const descriptor = { entries: [label('a=1')], hits_addend: { value: 5 }, is_negative_hits: true };
  const taken = { ...requestOf([]), descriptors: [descriptor] };
  assert.deepEqual(adds([A], taken), [0]);
});

test('renaming, moving or another rate goes on counting where it was', () => {
  const key = (limits: readonly LimitJson[]) => keyOf(plan(limits, requestOf(['a=1'])).hits[0]);
  const before = key([A]);
  assert.equal(
    key([{ pattern: ['z'] }, { ...A, name: 'other', rate: 100, action: 'LOG_ONLY' }]),
    before,
  );
});

test('no two label groups share a counter, however they are cut into keys and values', () => {
  const index = compileLimits(limitsOf('d', [{}]));
  const groups = new Map<string, string>();
  const random = seededRandom(1);
  for (let count = 0; count < cases({ all: 20_000, quick: 5_000 }); count++) {
    const texts = Array.from({ length: 2 * Math.floor(random() * 4) }, () =>
      Array.from({ length: random() * 4 }, () =>
        pick(['1', ':', '0', 'a', '"', '\u0000', '\u{1f4a9}'], random),
      ).join(''),
    );
    const entries = texts.flatMap((key, at) =>
      at % 2 === 0 ? [{ key, value: texts[at + 1] ?? '' }] : [],
    );
    const [hit] = planHits({ domain: 'd', descriptors: [{ entries }], hits_addend: 0 }, index).hits;
    assert.ok(hit);
    const group = JSON.stringify(texts);
    assert.equal(groups.get(keyOf(hit)) ?? group, group);
    groups.set(keyOf(hit), group);
  }
});

/** Returns all that identifies the counter. */
function keyOf(hit: Hit | undefined): string {
  return `${hit?.counter}${hit?.group}`;
}
