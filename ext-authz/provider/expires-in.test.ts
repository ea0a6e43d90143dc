import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExpiresIn } from './expires-in.ts';

for (const [written, seconds] of [
  ['3600', 3_600],
  ['"3600"', 3_600],
  ['"3600.5"', 3_600],
  ['3599.9', 3_599],
  ['0.5', 1],
  ['-1', 60],
  ['0', 60],
  ['-0', 60],
  ['1e309', 60],
  ['-1e309', 60],
  ['null', 60],
  ['true', 60],
  ['{}', 60],
  ['[3600]', 60],
  ['""', 60],
  ['"soon"', 60],
  ['"-5"', 60],
  ['"1e9"', 60],
  ['"0x10"', 60],
  ['" 3600"', 60],
  ['"9999999999999999999999"', 60],
  ['1e18', 2 ** 31 - 1],
] as const) {
  test(`expires_in ${written} is ${seconds} s`, () =>
    assert.equal(parseExpiresIn(JSON.parse(written)), seconds));
}

test('an absent expires_in says nothing', () => assert.equal(parseExpiresIn(undefined), undefined));
