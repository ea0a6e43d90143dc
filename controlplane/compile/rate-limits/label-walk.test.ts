import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { seededRandom } from '#protos/testing/random.ts';
import type { LabelPattern, PatternLabel } from '#resources/labels/label-pattern.ts';
import type { GroupShape, LabelShape } from './label-shape.ts';
import { labelTree } from './label-tree.ts';
import { LabelWalk } from './label-walk.ts';

const shape = (...labels: readonly LabelShape[]): GroupShape => ({
  labels,
  where: JSON.stringify(labels),
  key: '',
});

function canBe(label: LabelShape, text: string): boolean {
  if (label.form !== undefined) return text === (label.form === 'address' ? ADDRESS : CLUSTER);
  return label.value === undefined || label.value === text;
}

/** Applies the rule itself: some group begins with labels that can be those of the pattern. */
function isReached(pattern: LabelPattern, groups: readonly GroupShape[]): boolean {
  return groups.some(({ labels }) =>
    pattern.every((item, index) =>
      item.some(
        ({ key, value }) =>
          key === labels[index]?.key && (value === undefined || canBe(labels[index], value)),
      ),
    ),
  );
}

const WHOLE = { ipv4: 32, ipv6: 128 };
const KEYS = ['a', 'b', '__proto__'] as const;
const ADDRESS = '::1';
const CLUSTER = 'y';
const FORMS = ['address', 'cluster'] as const;
const VALUES = ['x', CLUSTER, ADDRESS, undefined] as const;

function randomly(seed: number) {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const list = <T>(least: number, most: number, make: () => T) =>
    Array.from({ length: least + Math.floor(random() * (most - least + 1)) }, make);
  const label = (): LabelShape => {
    const [key, value] = [pick(KEYS), pick(VALUES)];
    return value === undefined ? { key } : { key, value };
  };
  const shapeOfLabel = (): LabelShape =>
    random() < 0.2 ? { key: pick(KEYS), form: pick(FORMS) } : label();
  return {
    groups: () => list(0, 4, () => shape(...list(1, 3, shapeOfLabel))),
    pattern: (): LabelPattern => list(0, 3, (): PatternLabel => list(1, 2, label)),
  };
}

test('a pattern reaches a group exactly when some request could have one that it matches', () => {
  const { groups, pattern } = randomly(1);
  const seen = { reached: 0, unreached: 0 };
  for (let round = 0; round < cases({ all: 2_000, quick: 500 }); round++) {
    const shapes = groups();
    const walk = new LabelWalk(labelTree(shapes), new Set([CLUSTER]), WHOLE);
    for (let each = 0; each < 5; each++) {
      const tried = pattern();
      const { reached } = walk.reach(tried);
      assert.equal(reached, isReached(tried, shapes), JSON.stringify({ tried, shapes }));
      seen[reached ? 'reached' : 'unreached']++;
    }
  }
  assert.ok(
    Math.min(seen.reached, seen.unreached) > cases({ all: 1_000, quick: 250 }),
    JSON.stringify(seen),
  );
});

test('the depth is how many items of the pattern a group begins with', () => {
  const { groups, pattern } = randomly(2);
  for (let round = 0; round < cases({ all: 2_000, quick: 500 }); round++) {
    const shapes = groups();
    const tried = pattern();
    const reach = new LabelWalk(labelTree(shapes), new Set([CLUSTER]), WHOLE).reach(tried);
    if (reach.reached || shapes.length === 0) continue;
    assert.ok(isReached(tried.slice(0, reach.depth), shapes));
    assert.ok(!isReached(tried.slice(0, reach.depth + 1), shapes));
  }
});

test('the nearest labels are those of the wanted key, then the others in their order', () => {
  const groups = ['r', 's', 't', 'u'].map(key => shape({ key }));
  const walk = new LabelWalk(
    labelTree([...groups, shape({ key: 'k', value: 'v' })]),
    new Set(),
    WHOLE,
  );
  const reach = walk.reach([[{ key: 'k', value: 'w' }]]);
  assert.ok(!reach.reached);
  assert.deepEqual(
    reach.nearest.map(({ label }) => label.key),
    ['k', 'r', 's'],
  );
  assert.equal(reach.count, 5);
});

test('ten thousand limits among ten thousand groups take no time of their square', () => {
  const names = Array.from({ length: 10_000 }, (_, n) => `n-${n}`);
  const groups = names.map(value => shape({ key: 'generic_key', value }, { key: 'user' }));
  const walk = new LabelWalk(labelTree(groups), new Set(), WHOLE);
  for (const value of names) {
    const any = { key: 'generic_key' };
    assert.ok(walk.reach([[any], [{ key: 'user', value }]]).reached);
    assert.ok(!walk.reach([[any], [{ key: 'tenant', value }]]).reached);
    assert.ok(!walk.reach([[{ key: 'generic_key', value: `${value}x` }]]).reached);
  }
});
