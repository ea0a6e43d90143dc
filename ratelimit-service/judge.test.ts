import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { judge, type LimitStatus, type RequestVerdict } from './judge.ts';
import type { Limit } from './limit.ts';
import type { Plan } from './plan.ts';
import { limitOf } from './testing/limits.ts';
import { UNIT_MS } from './window.ts';

/**
 * 12:34:56.250 of a day: 0.75 s, 3.75 s, 25 min 3.75 s and 11 h 25 min 3.75 s before the windows
 * end.
 */
const NOW = Date.UTC(2026, 2, 1, 12, 34, 56, 250);

type Case = {
  readonly action?: 'ENFORCE' | 'LOG_ONLY';
  readonly unit?: 'SECOND' | 'MINUTE' | 'HOUR' | 'DAY';
  readonly rate: number;
  readonly count: number;
  readonly add?: number;
};

/**
 * Judges groups of limits that each have a counter of their own. Limits are named by group and
 * place, such as `0.1`.
 */
function judged(groups: readonly (readonly Case[])[]): RequestVerdict {
  const cases = groups.flatMap((group, at) =>
    group.map((item, place) => ({ ...item, name: `${at}.${place}` })),
  );
  const limits = cases.map(({ count, add, ...limit }) => limitOf(limit));
  const place = (name: string) => cases.findIndex(item => item.name === name);
  const plan: Plan = {
    groups: groups.map((group, at) => {
      const hits = group.map((_, index) => place(`${at}.${index}`));
      return { limits: hits.map(hit => limits[hit] as Limit), hits };
    }),
    hits: cases.map(({ add = 1 }, index) => ({
      counter: 'c',
      group: `${index}`,
      windowMs: UNIT_MS[(limits[index] as Limit).unit],
      add,
    })),
  };
  return judge(plan, { now: NOW, counts: cases.map(({ count }) => count) });
}

function one(item: Case): LimitStatus {
  const status = judged([[item]]).groups[0]?.statuses[0];
  assert.ok(status);
  return status;
}

const RATES: readonly [what: string, item: Case, exceeded: boolean, remaining: number][] = [
  ['the first request is within the rate', { rate: 5, count: 1 }, false, 4],
  ['request number rate is within it', { rate: 5, count: 5 }, false, 0],
  ['request number rate + 1 is over it', { rate: 5, count: 6 }, true, 0],
  ['rate 0 lets none pass', { rate: 0, count: 1 }, true, 0],
  ['a look at rate 0 is over', { rate: 0, count: 0, add: 0 }, true, 0],
  ['a look at an unused counter is within', { rate: 1, count: 0, add: 0 }, false, 1],
  ['a look while one remains is within', { rate: 5, count: 4, add: 0 }, false, 1],
  ['a look when none remains is over', { rate: 5, count: 5, add: 0 }, true, 0],
  ['many hits at once are over when they do not all fit', { rate: 5, count: 9, add: 9 }, true, 0],
  ['many hits at once that fit are within', { rate: 9, count: 9, add: 9 }, false, 0],
  ['the greatest rate holds', { rate: 4_294_967_295, count: 4_294_967_295 }, false, 0],
  [
    'an addend beyond every rate is over the greatest',
    { rate: 4_294_967_295, count: 2 ** 32, add: 2 ** 32 },
    true,
    0,
  ],
  ['a saturated count is over', { rate: 4_294_967_295, count: Number.MAX_SAFE_INTEGER }, true, 0],
];

for (const [what, item, exceeded, remaining] of RATES) {
  test(what, () => {
    const status = one(item);
    assert.deepEqual([status.exceeded, status.remaining], [exceeded, remaining]);
  });
}

const NEAR: readonly [rate: number, count: number, near: boolean][] = [
  [10, 7, false],
  [10, 8, true],
  [10, 10, true],
  [10, 11, false],
  [1, 1, true],
  [3, 2, false],
  [3, 3, true],
  [0, 1, false],
];

for (const [rate, count, near] of NEAR) {
  test(`${count} of ${rate} is ${near ? '' : 'not '}near the limit`, () =>
    assert.equal(one({ rate, count }).near, near));
}

for (const [unit, resetMs] of [
  ['SECOND', 750],
  ['MINUTE', 3_750],
  ['HOUR', 1_503_750],
  ['DAY', 41_103_750],
] as const) {
  test(`a limit by the ${unit.toLowerCase()} resets at the end of the window of the store's clock`, () =>
    assert.equal(one({ rate: 1, count: 1, unit }).resetMs, resetMs));
}

const OVER = { rate: 1, count: 2 };
const WITHIN = { rate: 9, count: 2 };

type Row = readonly [
  what: string,
  groups: readonly (readonly Case[])[],
  over: boolean,
  recorded: string | undefined,
  retryAfterMs: number,
];

const TABLE: readonly Row[] = [
  ['within every limit a request passes', [[WITHIN], [WITHIN]], false, undefined, 0],
  ['nothing matched lets a request pass', [[], []], false, undefined, 0],
  ['one exceeded limit of several refuses', [[WITHIN], [OVER], [WITHIN]], true, '1.0', 3_750],
  ['one exceeded limit of the same pattern refuses', [[WITHIN, OVER]], true, '0.1', 3_750],
  [
    'an exceeded LogOnly limit lets a request pass and is recorded',
    [[{ ...OVER, action: 'LOG_ONLY' }], [WITHIN]],
    false,
    '0.0',
    3_750,
  ],
  [
    'of several exceeded the one with the longest time until reset is recorded',
    [[{ ...OVER, unit: 'SECOND' }], [{ ...OVER, unit: 'DAY' }], [{ ...OVER, unit: 'HOUR' }]],
    true,
    '1.0',
    41_103_750,
  ],
  [
    'of several exceeded LogOnly limits too',
    [[{ ...OVER, action: 'LOG_ONLY' }], [{ ...OVER, action: 'LOG_ONLY', unit: 'HOUR' }]],
    false,
    '1.0',
    1_503_750,
  ],
  [
    'an exceeded Enforce limit is recorded rather than a longer LogOnly one',
    [[{ ...OVER, action: 'LOG_ONLY', unit: 'DAY' }], [OVER]],
    true,
    '1.0',
    41_103_750,
  ],
  [
    'of several exceeded Enforce limits the longest, when a LogOnly one is longer still',
    [[{ ...OVER, action: 'LOG_ONLY', unit: 'DAY' }], [OVER], [{ ...OVER, unit: 'HOUR' }]],
    true,
    '2.0',
    41_103_750,
  ],
  [
    'an exceeded Enforce limit that is longest is recorded',
    [[{ ...OVER, action: 'LOG_ONLY' }], [{ ...OVER, unit: 'DAY' }]],
    true,
    '1.0',
    41_103_750,
  ],
  ['of equals the first is recorded', [[OVER], [OVER]], true, '0.0', 3_750],
  [
    'of an Enforce and a LogOnly limit that reset together the Enforce one is recorded',
    [[{ ...OVER, action: 'LOG_ONLY' }], [OVER]],
    true,
    '1.0',
    3_750,
  ],
];

for (const [what, groups, over, recorded, retryAfterMs] of TABLE) {
  test(what, () => {
    const verdict = judged(groups);
    assert.deepEqual(
      [verdict.over, verdict.recorded?.limit.name, verdict.retryAfterMs],
      [over, recorded, retryAfterMs],
    );
    assert.equal(verdict.groups.length, groups.length);
  });
}

const SHOWN: readonly [what: string, group: readonly Case[], shown: string | undefined][] = [
  ['nothing when no limit applies', [], undefined],
  ['the only limit', [WITHIN], '0.0'],
  [
    'the one with the least remaining',
    [
      { rate: 9, count: 1 },
      { rate: 5, count: 1 },
      { rate: 7, count: 1 },
    ],
    '0.1',
  ],
  [
    'the first of those with equally little remaining',
    [
      { rate: 5, count: 1 },
      { rate: 5, count: 1 },
    ],
    '0.0',
  ],
  [
    'the exceeded Enforce limit with the longest reset',
    [
      { ...OVER, unit: 'SECOND' },
      { ...OVER, unit: 'DAY' },
      { ...OVER, unit: 'HOUR' },
    ],
    '0.1',
  ],
  [
    'the exceeded Enforce limit rather than an exceeded LogOnly one',
    [{ ...OVER, action: 'LOG_ONLY', unit: 'DAY' }, OVER],
    '0.1',
  ],
  [
    'an exceeded LogOnly limit, which has nothing remaining',
    [WITHIN, { ...OVER, action: 'LOG_ONLY' }],
    '0.1',
  ],
];

for (const [what, group, shown] of SHOWN) {
  test(`a descriptor shows ${what}`, () =>
    assert.equal(judged([group]).groups[0]?.shown?.limit.name, shown));
}

test('a store that gives too few counts is a bug that does not pass unseen', () => {
  const plan: Plan = {
    groups: [{ limits: [limitOf({})], hits: [0] }],
    hits: [{ counter: 'c', group: 'k', windowMs: 60_000, add: 1 }],
  };
  assert.throws(() => judge(plan, { now: NOW, counts: [] }), /no count for hit 0/);
});

test("agrees with the document's three rules of what is recorded, for random limits and counts", () => {
  for (let seed = 0; seed < cases({ all: 3_000, quick: 750 }); seed++) {
    const random = seededRandom(seed);
    const some = () => Math.floor(random() * 4);
    const groups = Array.from({ length: some() }, () =>
      Array.from({ length: some() }, () => randomCase(random)),
    );
    const verdict = judged(groups);
    const all = verdict.groups.flatMap(({ statuses }) => statuses);
    const exceeded = all.filter((_, at) => isOver(groups.flat()[at]));
    assert.deepEqual(
      all.filter(status => status.exceeded),
      exceeded,
      `seed ${seed}`,
    );
    assert.equal(verdict.recorded, modelRecorded(exceeded), `seed ${seed}`);
    assert.equal(
      verdict.over,
      exceeded.some(({ limit }) => limit.action === 'Enforce'),
      `seed ${seed}`,
    );
    assert.equal(
      verdict.retryAfterMs,
      Math.max(0, ...exceeded.map(({ resetMs }) => resetMs)),
      `seed ${seed}`,
    );
  }
});

function randomCase(random: () => number): Case {
  return {
    action: pick(['ENFORCE', 'LOG_ONLY'], random),
    unit: pick(['SECOND', 'MINUTE', 'HOUR', 'DAY'], random),
    rate: Math.floor(random() * 3),
    count: 1 + Math.floor(random() * 3),
  };
}

function isOver(item: Case | undefined): boolean {
  return item !== undefined && item.count > item.rate;
}

/** States the rule of docs/reference/kinds/rate-limit.md once more, in code. */
function modelRecorded(exceeded: readonly LimitStatus[]): LimitStatus | undefined {
  const byReset = [...exceeded].sort((a, b) => b.resetMs - a.resetMs);
  const [longest] = byReset;
  if (longest?.limit.action !== 'LogOnly') return longest;
  return byReset.find(({ limit }) => limit.action !== 'LogOnly') ?? longest;
}
