import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLifetime } from './parse-lifetime.ts';

const TABLE: readonly (readonly [text: string, ms: number | undefined])[] = [
  ['24h', 86_400_000],
  ['1h30m', 5_400_000],
  ['300ms', 300],
  ['90m', 5_400_000],
  ['10', undefined],
  ['1d', undefined],
  ['-1h', undefined],
  ['1.5h', undefined],
  ['', undefined],
  ['h', undefined],
];

for (const [text, ms] of TABLE) {
  test(`"${text}" is ${ms === undefined ? 'no time' : `${ms} ms`}`, () =>
    assert.equal(parseLifetime(text), ms));
}
