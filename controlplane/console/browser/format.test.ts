import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clock, count } from './format.ts';

describe('the console', () => {
  for (const [value, text] of [
    [0, '0'],
    [7.5, '8'],
    [999, '999'],
    [1_000, '1,000'],
    [999_999.4, '999,999'],
    [12_345_678, '12,345,678'],
    [-1_234, '-1,234'],
  ] as const)
    test(`writes the count ${value} as ${text}`, () => assert.equal(count(value), text));

  test('writes a time of the reader with two digits each', () => {
    assert.equal(clock(new Date(2026, 0, 2, 4, 3, 7).getTime()), '04:03:07');
  });
});
