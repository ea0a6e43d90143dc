import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration, parseDuration, positiveDuration } from './duration.ts';

/** What Go's time.ParseDuration gives, in milliseconds. */
const PARSED: readonly [text: string, milliseconds: number][] = [
  ['0', 0],
  ['+0', 0],
  ['-0', 0],
  ['0s', 0],
  ['-0h', 0],
  ['5s', 5_000],
  ['+5s', 5_000],
  ['-5s', -5_000],
  ['300ms', 300],
  ['1h30m', 5_400_000],
  ['-1.5h', -5_400_000],
  ['1m1h', 3_660_000],
  ['5.s', 5_000],
  ['.5s', 500],
  ['1.004s', 1_004],
  ['100.00100s', 100_001],
  ['10ns', 0.00001],
  ['11us', 0.011],
  ['12\u00b5s', 0.012],
  ['12\u03bcs', 0.012],
  ['14ms', 14],
  ['3h2m1s4ms5us6ns', 10_921_004.005006],
  ['1.9ns', 0.000001],
  ['39h9m14.425s', 140_954_425],
  ['52763797000ns', 52_763.797],
  ['0.3333333333333333333h', 1_200_000],
  ['0.9223372036854775807h', 3_320_413.933267],
  ['0.100000000000000000000h', 360_000],
  ['0.830103483285477580700h', 2_988_372.539827],
  ['9007199254740993ns', 9_007_199_254.740993],
  ['9223372036854775807ns', 9_223_372_036_854.775],
  ['-9223372036854775808ns', -9_223_372_036_854.775],
  ['-2562047h47m16.854775808s', -9_223_372_036_854.775],
];

for (const [text, milliseconds] of PARSED) {
  test(`${text} is ${milliseconds} ms`, () => {
    assert.deepEqual(parseDuration(text), { value: milliseconds });
  });
}

const REFUSED: readonly [text: string, reason: string][] = [
  ['', 'it is empty'],
  ['-', 'it is empty'],
  ['3', 'a unit is missing: ns, us, ms, s, m or h'],
  ['00', 'a unit is missing: ns, us, ms, s, m or h'],
  ['1h30', 'a unit is missing: ns, us, ms, s, m or h'],
  ['s', 'a number is missing before "s"'],
  ['.s', 'a number is missing before "s"'],
  ['.', 'a number is missing before ""'],
  ['--1s', 'a number is missing before "-"'],
  ['5x', 'unknown unit "x". There are ns, us, ms, s, m and h'],
  ['5S', 'unknown unit "S". There are ns, us, ms, s, m and h'],
  ['1d', 'unknown unit "d". There are ns, us, ms, s, m and h'],
  ['5 s', 'unknown unit " s". There are ns, us, ms, s, m and h'],
  ['1s ', 'unknown unit "s ". There are ns, us, ms, s, m and h'],
  ['1h-5m', 'unknown unit "h-". There are ns, us, ms, s, m and h'],
  ['1e3s', 'unknown unit "e". There are ns, us, ms, s, m and h'],
  ['\u0665s', 'a number is missing before "\u0665s"'],
  ['9223372036854775808ns', 'it is longer than 292 years'],
  ['-9223372036854775809ns', 'it is longer than 292 years'],
  ['2562048h', 'it is longer than 292 years'],
  ['9223372036854775807ns1ns', 'it is longer than 292 years'],
];

for (const [text, reason] of REFUSED) {
  test(`${JSON.stringify(text)} is no duration`, () => {
    assert.deepEqual(parseDuration(text), {
      error: `Cannot parse duration ${JSON.stringify(text)}: ${reason}`,
    });
  });
}

test('a text of any length is answered at once', () => {
  assert.match(JSON.stringify(parseDuration('1s'.repeat(1_000_000))), /more than 100 characters/);
});

test('a sign is for those that may have one, and 0 for those that need no length', () => {
  const accepted = (text: string | number) =>
    [duration, positiveDuration].map(schema => schema.safeParse(text).success);
  assert.deepEqual(accepted('-1ns'), [true, false]);
  assert.deepEqual(accepted('0'), [true, false]);
  assert.deepEqual(accepted('1ns'), [true, true]);
});

test('the number 0 is a duration, other numbers lack a unit', () => {
  assert.deepEqual(duration.safeParse(0).data, 0);
  assert.equal(duration.safeParse(5).success, false);
});
