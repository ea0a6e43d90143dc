import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#protos/testing/random.ts';
import {
  canonicalPattern,
  type LabelPattern,
  matchesLabel,
  type PatternLabel,
} from '#resources/labels/label-pattern.ts';
import { HiddenLimits } from './hidden-limits.ts';
import { labelTree } from './label-tree.ts';
import { LabelWalk } from './label-walk.ts';

const WHOLE = { ipv4: 32, ipv6: 128 };
const KEYS = ['a', 'b'] as const;
const VALUES = ['x', 'y'] as const;
const LABELS = KEYS.flatMap(key => VALUES.map(value => ({ key, value })));

/** Groups of up to three labels whose values only requests tell. */
const SHAPES = KEYS.flatMap(first =>
  KEYS.map(second => ({ labels: [{ key: first }, { key: second }], where: '', key: '' })),
);

/** Every label group that a request can have there. */
const REQUESTS = LABELS.flatMap(first => LABELS.map(second => [first, second]));

const matches = (pattern: LabelPattern, group: (typeof REQUESTS)[number]) =>
  pattern.every((item, index) => {
    const label = group[index];
    return label !== undefined && matchesLabel(item, label) !== undefined;
  });

test('a shorter Enforce limit is hidden exactly when some request matches both', () => {
  const random = seededRandom(3);
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const item = (): PatternLabel =>
    Array.from({ length: 1 + Math.floor(random() * 2) }, () =>
      random() < 0.3 ? { key: pick(KEYS) } : { key: pick(KEYS), value: pick(VALUES) },
    );
  const pattern = (length: number): LabelPattern => Array.from({ length }, item);
  const walk = new LabelWalk(labelTree(SHAPES), new Set(), WHOLE);
  let hidden = 0;
  for (let round = 0; round < 5000; round++) {
    const enforced = Array.from({ length: 1 + (round % 2) }, () => ({
      pattern: pattern(1),
      where: '',
    }));
    const logged = pattern(2);
    const expected = enforced.some(({ pattern }) =>
      REQUESTS.some(group => matches(pattern, group) && matches(logged, group)),
    );
    const found = new HiddenLimits(enforced).hiddenBy(logged, walk);
    assert.equal(found !== undefined, expected, JSON.stringify({ enforced, logged }));
    if (expected) hidden++;
  }
  assert.ok(hidden > 500 && hidden < 4500, `${hidden} of 5000`);
});

const any: PatternLabel = [{ key: 'a' }];
const x: PatternLabel = [{ key: 'a', value: 'x' }];
const y: PatternLabel = [{ key: 'a', value: 'y' }];

const CASES: readonly {
  logged: LabelPattern;
  enforced: readonly LabelPattern[];
  hides: boolean;
  why: string;
}[] = [
  { logged: [x], enforced: [[]], hides: true, why: 'the empty pattern loses to all' },
  { logged: [x], enforced: [[any]], hides: true, why: 'of equal length the exact value wins' },
  { logged: [any], enforced: [[x]], hides: false, why: 'the Enforce limit is more exact' },
  { logged: [x, any], enforced: [[any, x]], hides: true, why: 'exact values count from the left' },
  { logged: [any, x], enforced: [[x, any]], hides: false, why: 'exact values count from the left' },
  { logged: [x], enforced: [[x]], hides: false, why: 'of equal patterns all limits apply' },
  {
    logged: [x],
    enforced: [[], [x]],
    hides: false,
    why: 'an Enforce limit of that pattern wins with it',
  },
  { logged: [x], enforced: [[y]], hides: false, why: 'no request has both' },
  { logged: [any], enforced: [[x, any]], hides: false, why: 'the Enforce limit is longer' },
  {
    logged: [[{ key: 'c' }]],
    enforced: [[]],
    hides: false,
    why: 'no request meets the LogOnly limit',
  },
];

for (const { logged, enforced, hides, why } of CASES) {
  const title = `${canonicalPattern(logged)} ${hides ? 'hides' : 'hides nothing of'} ${enforced.map(canonicalPattern).join()}: ${why}`;
  test(title, () => {
    const limits = new HiddenLimits(enforced.map(pattern => ({ pattern, where: '' })));
    assert.equal(
      limits.hiddenBy(logged, new LabelWalk(labelTree(SHAPES), new Set(), WHOLE)) !== undefined,
      hides,
    );
  });
}

test('of two items with many alternatives each is looked at a few times', () => {
  const many = 500;
  let looks = 0;
  const item = (prefix: string): PatternLabel =>
    Array.from({ length: many }, (_, at) => ({
      get key() {
        looks += 1;
        return 'a';
      },
      value: at === 0 ? 'x' : `${prefix}${at}`,
    }));
  const hidden = new HiddenLimits([{ pattern: [item('p')], where: 'it' }]);
  const walk = new LabelWalk(labelTree(SHAPES), new Set(), WHOLE);
  assert.equal(hidden.hiddenBy([item('q'), any], walk)?.where, 'it');
  assert.ok(looks < 50 * many, `${looks} looks`);
});
