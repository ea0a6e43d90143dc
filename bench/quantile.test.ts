import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { medianAndP99, quantile } from './quantile.ts';

describe('a quantile', () => {
  const cases = [
    [[5], 0.5, 5],
    [[3, 1, 2], 0.5, 2],
    [[4, 1, 3, 2], 0.5, 2],
    [Array.from({ length: 100 }, (_, at) => at + 1), 0.99, 99],
    [[1, 2], 1, 2],
    [[1, 2], 0, 1],
  ] as const;
  for (const [samples, q, expected] of cases) {
    test(`of ${samples.length} samples at ${q} is the one of that rank`, () => {
      assert.equal(quantile(samples, q), expected);
    });
  }

  test('of nothing is refused', () => {
    assert.throws(() => quantile([], 0.5), /No samples/);
  });

  test('is shown with the digits that mean something', () => {
    assert.equal(medianAndP99([1.234, 123.4]), '1.2 / 123');
  });
});
