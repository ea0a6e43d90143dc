import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTimestamp, parseTimestamp } from './timestamp.ts';

for (const [text, seconds, nanos] of [
  ['1970-01-01T00:00:00Z', 0, 0],
  ['1972-01-01T10:00:20.021Z', 63_108_020, 21_000_000],
  ['2024-02-29T23:59:59.123456789Z', 1_709_251_199, 123_456_789],
  ['1969-12-31T23:59:59.500Z', -1, 500_000_000],
  ['0001-01-01T00:00:00Z', -62_135_596_800, 0],
  ['9999-12-31T23:59:59.999999999Z', 253_402_300_799, 999_999_999],
] as const) {
  test(`${text} is ${seconds} s and ${nanos} ns since 1970, and back`, () => {
    assert.deepEqual(parseTimestamp(text), { seconds, nanos });
    assert.equal(formatTimestamp({ seconds, nanos }), text);
  });
}

test('an offset is subtracted', () => {
  assert.deepEqual(parseTimestamp('1970-01-01T02:00:00.5+02:00'), {
    seconds: 0,
    nanos: 500_000_000,
  });
});

for (const bad of [
  '',
  '1970-01-01',
  '1970-01-01T00:00:00',
  '1970-02-30T00:00:00Z',
  '1970-01-01T24:00:01Z',
  '0000-01-01T00:00:00Z',
  '1970-01-01T00:00:00+99:00',
  0,
  null,
]) {
  test(`${JSON.stringify(bad)} is no time`, () => assert.equal(parseTimestamp(bad), undefined));
}
