import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { matchesLabel } from '#resources/labels/label-pattern.ts';
import { explainLimit, explainMismatch } from './explain-match.ts';
import { compileLimits } from './limits-index.ts';
import { matchGroup } from './match.ts';
import { label, limitOf, limitsOf } from './testing/limits.ts';

type Row = readonly [
  pattern: readonly string[],
  group: readonly string[],
  reason: string | undefined,
];

const TABLE: readonly Row[] = [
  [
    ['generic_key=x'],
    ['remote_address=1.2.3.4'],
    'group starts with remote_address, pattern with generic_key',
  ],
  [['a=1|b=2'], ['c=3'], 'group starts with c, pattern with a or b'],
  [['a=1|a=2'], ['c=3'], 'group starts with c, pattern with a'],
  [['a=1'], ['a=2'], 'label 1 is "a=2", the pattern wants "a=1"'],
  [
    ['a', 'method=POST'],
    ['a=1', 'method=GET'],
    'label 2 is "method=GET", the pattern wants "method=POST"',
  ],
  [['a', 'b|c=1'], ['a=1', 'd=2'], 'label 2 is "d=2", the pattern wants "b=*" or "c=1"'],
  [
    ['a=1|a=2|a=3|a=4|a=5'],
    ['a=6'],
    'label 1 is "a=6", the pattern wants "a=1", "a=2", "a=3" or 2 others',
  ],
  [['a', 'b'], ['a=1'], 'the group ends after 1 label, the pattern has 2'],
  [['a', 'b', 'c'], ['a=1', 'b=2'], 'the group ends after 2 labels, the pattern has 3'],
  [['a'], [], 'the group has no label, the pattern has 1'],
  [['a=1'], ['a="\n'], 'label 1 is "a=\\"\\n", the pattern wants "a=1"'],
  [['a=1'], ['a=1'], undefined],
  [
    ['generic_key'],
    ['generic_key=RateLimit/infra/gw/0'],
    'label 1 is "generic_key=RateLimit/infra/gw/0", the pattern wants "generic_key=*"',
  ],
  [['a'], ['a=1', 'b=2'], undefined],
  [[], [], undefined],
];

for (const [pattern, group, reason] of TABLE) {
  test(`of pattern ${JSON.stringify(pattern)} and group ${JSON.stringify(group)} says: ${reason ?? 'nothing'}`, () =>
    assert.equal(explainMismatch(limitOf({ pattern }).pattern, group.map(label)), reason));
}

test('shows no more than a line of a long value', () => {
  const reason = explainMismatch(limitOf({ pattern: ['a=1'] }).pattern, [
    label(`a=${'x'.repeat(100_000)}`),
  ]);
  assert.ok(reason !== undefined && reason.length < 200 && reason.includes('…'), reason);
});

const PREFERRED: readonly [patterns: readonly (readonly string[])[], reason: string][] = [
  [[['a=1'], ['a', 'b']], 'a longer pattern of limit limit-1 matches'],
  [
    [
      ['a', 'b'],
      ['a=1', 'b'],
    ],
    'a more exact pattern of limit limit-1 matches',
  ],
  [[['a=1|a=2'], ['a=1']], 'an equally good pattern of limit limit-1 matches'],
];

for (const [patterns, reason] of PREFERRED) {
  test(`says of a limit that matches and does not apply: ${reason}`, () => {
    const limits = limitsOf(
      'd',
      patterns.map(pattern => ({ pattern })),
    );
    const group = [label('a=1'), label('b=2')];
    const winners = matchGroup(compileLimits(limits), 'd', group);
    assert.deepEqual(
      limits.map(limit => explainLimit(limit, group, winners)),
      [reason, undefined],
    );
  });
}

test('says nothing exactly of the limits that match, for random patterns and groups', () => {
  for (let seed = 0; seed < cases({ all: 3_000, quick: 750 }); seed++) {
    const random = seededRandom(seed);
    const some = (most: number) =>
      Array.from({ length: random() * most }, () => pick(['a', 'b', 'a=1', 'a=2'], random));
    const { pattern } = limitOf({ pattern: some(4) });
    const group = some(4).map(label);
    const matches = pattern.every((item, at) => {
      const found = group[at];
      return found !== undefined && matchesLabel(item, found) !== undefined;
    });
    assert.equal(explainMismatch(pattern, group) === undefined, matches, `seed ${seed}`);
  }
});
