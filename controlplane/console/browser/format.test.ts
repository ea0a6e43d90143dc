import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clock, count, percent, shortName } from './format.ts';

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

  for (const [part, text] of [
    [0, '0 %'],
    [0.5, '<0.1 %'],
    [12, '1.2 %'],
    [985, '99 %'],
    [997, '99.7 %'],
    [999.5, '>99.9 %'],
    [1_000, '100 %'],
  ] as const)
    test(`writes ${part} of 1,000 as ${text}`, () => assert.equal(percent(part, 1_000), text));

  test('writes the name of a resource, with a namespace that is not the usual one', () => {
    assert.equal(shortName('Mapping/default/shop'), 'shop');
    assert.equal(shortName('Mapping/other/shop'), 'other/shop');
    assert.equal(shortName('GatewayClass//gateway'), 'gateway');
  });

  test('writes a time of the reader with two digits each', () => {
    assert.equal(clock(new Date(2026, 0, 2, 4, 3, 7).getTime()), '04:03:07');
  });
});
