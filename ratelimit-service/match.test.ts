import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { type Label, matchesLabel } from '#resources/labels/label-pattern.ts';
import type { Limit } from './limit.ts';
import { compileLimits } from './limits-index.ts';
import { matchGroup } from './match.ts';
import { label, limitsOf } from './testing/limits.ts';

type Row = {
  readonly rule: string;
  readonly patterns: readonly (readonly string[])[];
  readonly group: readonly string[];
  /** Indices into `patterns`. */
  readonly wins: readonly number[];
};

const TABLE: readonly Row[] = [
  {
    rule: 'a group that starts with the labels of the pattern',
    patterns: [['a=1', 'b=2']],
    group: ['a=1', 'b=2', 'c=3'],
    wins: [0],
  },
  {
    rule: 'a group that is the pattern',
    patterns: [['a=1', 'b=2']],
    group: ['a=1', 'b=2'],
    wins: [0],
  },
  {
    rule: 'no group in another order',
    patterns: [['a=1', 'b=2']],
    group: ['b=2', 'a=1'],
    wins: [],
  },
  {
    rule: 'no group that only holds the labels further on',
    patterns: [['a=1']],
    group: ['b=2', 'a=1'],
    wins: [],
  },
  {
    rule: 'no group that is shorter than the pattern',
    patterns: [['a=1', 'b=2']],
    group: ['a=1'],
    wins: [],
  },
  { rule: 'no other value', patterns: [['a=1']], group: ['a=2'], wins: [] },
  { rule: 'no value in another letter case', patterns: [['a=x']], group: ['a=X'], wins: [] },
  { rule: 'any value where the pattern has none', patterns: [['a']], group: ['a=7'], wins: [0] },
  {
    rule: 'an empty value where the pattern has none',
    patterns: [['a']],
    group: ['a='],
    wins: [0],
  },
  { rule: 'no other key, whatever the value', patterns: [['a']], group: ['b=7'], wins: [] },
  {
    rule: 'one of several alternatives',
    patterns: [['key1=A|key1=B', 'key2']],
    group: ['key1=B', 'key2=x', 'more=1'],
    wins: [0],
  },
  { rule: 'alternatives of several keys', patterns: [['a=1|b']], group: ['b=5'], wins: [0] },
  {
    rule: 'no label that no alternative has',
    patterns: [['key1=A|key1=B', 'key2']],
    group: ['key3=A', 'key2=x'],
    wins: [],
  },
  {
    rule: 'the longest pattern',
    patterns: [['a=1'], ['a', 'b'], ['a=1']],
    group: ['a=1', 'b=2'],
    wins: [1],
  },
  {
    rule: 'the shorter pattern when the longer does not match',
    patterns: [['a=1'], ['a=1', 'b=1']],
    group: ['a=1', 'b=2'],
    wins: [0],
  },
  {
    rule: 'the shorter pattern when the longer fails far in',
    patterns: [['a'], ['a=1', 'b', 'c=1']],
    group: ['a=1', 'b=2', 'c=3'],
    wins: [0],
  },
  {
    rule: 'of equal length the one with more exact values',
    patterns: [
      ['a', 'b'],
      ['a', 'b=2'],
    ],
    group: ['a=1', 'b=2'],
    wins: [1],
  },
  {
    rule: 'exact values compared from the left',
    patterns: [
      ['a', 'b=2', 'c=3'],
      ['a=1', 'b', 'c'],
    ],
    group: ['a=1', 'b=2', 'c=3'],
    wins: [1],
  },
  {
    rule: 'an exact alternative beside any value as exact',
    patterns: [['a'], ['a|a=1']],
    group: ['a=1'],
    wins: [1],
  },
  {
    rule: 'the fewer alternatives, of patterns that match equally well',
    patterns: [['a=1|a=2'], ['a=1']],
    group: ['a=1'],
    wins: [1],
  },
  {
    rule: 'alternatives compared from the left',
    patterns: [
      ['a=1|a=2', 'b=1'],
      ['a=1', 'b=1|b=2|b=3'],
    ],
    group: ['a=1', 'b=1'],
    wins: [1],
  },
  {
    rule: 'the first canonical text, of patterns that nothing else tells apart',
    patterns: [['a=1|a=3'], ['a=1|a=2']],
    group: ['a=1'],
    wins: [1],
  },
  {
    rule: 'all limits of the same pattern',
    patterns: [['a=1'], ['a'], ['a=1']],
    group: ['a=1'],
    wins: [0, 2],
  },
  {
    rule: 'patterns as the same that differ only in the order of alternatives',
    patterns: [['a=1|a=2'], ['a=2|a=1|a=1']],
    group: ['a=2'],
    wins: [0, 1],
  },
  { rule: 'every group by the empty pattern', patterns: [[]], group: ['x=y'], wins: [0] },
  { rule: 'a group without labels by the empty pattern', patterns: [[]], group: [], wins: [0] },
  {
    rule: 'any other pattern rather than the empty one',
    patterns: [[], ['a']],
    group: ['a=1'],
    wins: [1],
  },
  {
    rule: 'repeated keys one after the other',
    patterns: [['a=1', 'a=2']],
    group: ['a=1', 'a=2'],
    wins: [0],
  },
  {
    rule: 'keys of the object prototype',
    patterns: [['__proto__', 'constructor=toString']],
    group: ['__proto__=', 'constructor=toString'],
    wins: [0],
  },
  {
    rule: 'no key of the object prototype by accident',
    patterns: [['a=1']],
    group: ['__proto__=x'],
    wins: [],
  },
  {
    rule: "no group of a limit for targets by any value, but only by that limit's own",
    patterns: [
      ['generic_key=RateLimit/infra/gw/0'],
      ['generic_key', 'a'],
      ['generic_key|b', 'a', 'c'],
    ],
    group: ['generic_key=RateLimit/infra/gw/0', 'a=1', 'c=2'],
    wins: [0],
  },
  {
    rule: 'other values that look alike by any value',
    patterns: [['generic_key']],
    group: ['generic_key=RateLimit/infra/gw'],
    wins: [0],
  },
  {
    rule: 'any character',
    patterns: [['ключ=\u{1f4a9}\u0000"\\']],
    group: ['ключ=\u{1f4a9}\u0000"\\'],
    wins: [0],
  },
  {
    rule: 'no value that only looks the same',
    patterns: [['a=\u00e9']],
    group: ['a=e\u0301'],
    wins: [],
  },
];

for (const { rule, patterns, group, wins } of TABLE) {
  test(`matches ${rule}`, () => {
    const limits = limitsOf(
      'd',
      patterns.map(pattern => ({ pattern })),
    );
    const matched = matchGroup(compileLimits(limits), 'd', group.map(label));
    assert.deepEqual(
      matched,
      wins.map(index => limits[index]),
    );
  });
}

test('a limit of another domain does not count, however like its name', () => {
  const index = compileLimits([
    ...limitsOf('d', [{ pattern: ['a'] }]),
    ...limitsOf('__proto__', []),
  ]);
  for (const domain of ['', 'D', 'd ', '__proto__', 'constructor']) {
    assert.deepEqual(matchGroup(index, domain, [label('a=1')]), []);
  }
});

test('limits of one pattern add up over resources, in the order given', () => {
  const first = limitsOf('d', [{ name: 'z', pattern: ['a=1'] }]);
  const second = limitsOf('d', [{ name: 'b', pattern: ['a=1'] }]);
  const names = matchGroup(compileLimits([...first, ...second]), 'd', [label('a=1')]).map(
    ({ name }) => name,
  );
  assert.deepEqual(names, ['z', 'b']);
});

test('the order of limits does not decide which pattern wins', () => {
  const limits = limitsOf(
    'd',
    [['a=1|a=3'], ['a=1|a=2'], ['a=1|b']].map(pattern => ({ pattern })),
  );
  const group = [label('a=1')];
  const forward = matchGroup(compileLimits(limits), 'd', group);
  assert.deepEqual(matchGroup(compileLimits([...limits].reverse()), 'd', group), forward);
});

test('items that match a label in two ways cost as much as in one way, however many follow each other', () => {
  const length = 60;
  const limits = limitsOf('d', [{ pattern: Array(length).fill('a|a=1') }]);
  assert.deepEqual(
    matchGroup(compileLimits(limits), 'd', Array(length).fill(label('a=1'))),
    limits,
  );
});

test('agrees with the rules of the document read one after the other, for random limits and groups', () => {
  for (let seed = 0; seed < cases({ all: 3_000, quick: 750 }); seed++) {
    const random = seededRandom(seed);
    const limits = limitsOf(
      'd',
      Array.from({ length: 1 + random() * 12 }, () => ({ pattern: randomPattern(random) })),
    );
    const index = compileLimits(limits);
    for (let count = 0; count < 8; count++) {
      const group = Array.from({ length: random() * 5 }, () => label(randomLabel(random)));
      const names = matchGroup(index, 'd', group).map(({ name }) => name);
      assert.deepEqual(names, modelMatch(limits, group), `seed ${seed}, ${JSON.stringify(group)}`);
    }
  }
});

function randomPattern(random: () => number): readonly string[] {
  return Array.from({ length: random() * 4 }, () =>
    Array.from({ length: 1 + random() ** 3 * 3 }, () =>
      pick([randomLabel(random), pick(KEYS, random)], random),
    ).join('|'),
  );
}

const KEYS = ['a', 'b', '__proto__'];

function randomLabel(random: () => number): string {
  return `${pick(KEYS, random)}=${pick(['1', '2', 'é'], random)}`;
}

/** Scans all limits by the rules of docs/explanation/how-a-limit-is-counted.md, ties too. */
function modelMatch(limits: readonly Limit[], group: readonly Label[]): readonly string[] {
  const matching = limits.filter(
    ({ pattern }) =>
      pattern.length <= group.length &&
      pattern.every((item, at) => matchesLabel(item, group[at] as Label) !== undefined),
  );
  const [winner] = matching
    .map(limit => ({ limit, order: orderOf(limit, group) }))
    .sort((a, b) => compareOrders(a.order, b.order));
  return matching
    .filter(({ canonical }) => canonical === winner?.limit.canonical)
    .map(({ name }) => name);
}

/** Compares item by item. The lower one wins. */
function orderOf(
  { pattern, canonical }: Limit,
  group: readonly Label[],
): readonly (number | string)[] {
  return [
    -pattern.length,
    ...pattern.map((item, at) => (matchesLabel(item, group[at] as Label) === 'exact' ? 0 : 1)),
    ...pattern.map(item => new Set(item.map(({ key, value }) => `${key} ${value}`)).size),
    canonical,
  ];
}

function compareOrders(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  if (at === -1) return 0;
  return (a[at] as number) < (b[at] as number) ? -1 : 1;
}
