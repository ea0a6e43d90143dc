import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalPattern, type LabelPattern, matchesLabel } from './label-pattern.ts';

const LABEL = { key: 'k', value: 'a' };

test('an alternative matches its key and value, or its key alone', () => {
  assert.equal(matchesLabel([{ key: 'k', value: 'a' }], LABEL), 'exact');
  assert.equal(matchesLabel([{ key: 'k' }], LABEL), 'any');
  assert.equal(matchesLabel([{ key: 'k', value: 'b' }], LABEL), undefined);
  assert.equal(matchesLabel([{ key: 'K', value: 'a' }], LABEL), undefined);
  assert.equal(matchesLabel([{ key: 'l' }], LABEL), undefined);
});

test('an item matches when one of its alternatives does, and an exact value wins', () => {
  assert.equal(matchesLabel([{ key: 'l' }, { key: 'k', value: 'a' }], LABEL), 'exact');
  assert.equal(matchesLabel([{ key: 'k' }, { key: 'k', value: 'a' }], LABEL), 'exact');
  assert.equal(
    matchesLabel(
      [
        { key: 'k', value: 'b' },
        { key: 'l', value: 'a' },
      ],
      LABEL,
    ),
    undefined,
  );
});

test('a label with an empty value is matched by its key alone', () => {
  assert.equal(matchesLabel([{ key: 'k' }], { key: 'k', value: '' }), 'any');
});

test('keys that every object has are keys like others', () => {
  assert.equal(matchesLabel([{ key: 'k' }], { key: '__proto__', value: 'a' }), undefined);
  assert.equal(matchesLabel([{ key: '__proto__' }], { key: '__proto__', value: 'a' }), 'any');
});

const SAME: readonly [a: LabelPattern, b: LabelPattern][] = [
  [[], []],
  [[[{ key: 'a', value: '1' }, { key: 'b' }]], [[{ key: 'b' }, { key: 'a', value: '1' }]]],
  [[[{ key: 'a' }, { key: 'a' }]], [[{ key: 'a' }]]],
];

for (const [a, b] of SAME) {
  test(`${JSON.stringify(a)} and ${JSON.stringify(b)} are one pattern`, () =>
    assert.equal(canonicalPattern(a), canonicalPattern(b)));
}

const DIFFERENT: readonly LabelPattern[] = [
  [],
  [[{ key: 'a' }]],
  [[{ key: 'a' }], [{ key: 'a' }]],
  [[{ key: 'a' }], [{ key: 'b' }]],
  [[{ key: 'b' }], [{ key: 'a' }]],
  [[{ key: 'a' }, { key: 'b' }]],
  [[{ key: 'a', value: 'b' }]],
  [[{ key: 'a', value: 'b' }, { key: 'a' }]],
  [[{ key: 'a","b' }]],
  [[{ key: 'a"],["b' }]],
  [[{ key: 'a\\' }]],
  [[{ key: '\ud800' }]],
  [[{ key: '\\ud800' }]],
  [[{ key: '\ud801' }]],
  [[{ key: '' }]],
];

test('other patterns have other texts, whatever stands in their keys', () => {
  assert.equal(new Set(DIFFERENT.map(canonicalPattern)).size, DIFFERENT.length);
});
