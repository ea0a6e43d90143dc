import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterSeconds, timeToReset, UNIT_MS, type Unit, windowEnd } from './window.ts';

const TABLE: readonly [now: string, unit: Unit, end: string][] = [
  ['2026-03-01T12:34:56.000Z', 'second', '2026-03-01T12:34:57.000Z'],
  ['2026-03-01T12:34:56.001Z', 'second', '2026-03-01T12:34:57.000Z'],
  ['2026-03-01T12:34:56.999Z', 'second', '2026-03-01T12:34:57.000Z'],
  ['2026-03-01T12:34:59.999Z', 'minute', '2026-03-01T12:35:00.000Z'],
  ['2026-03-01T12:35:00.000Z', 'minute', '2026-03-01T12:36:00.000Z'],
  ['2026-03-01T12:59:59.999Z', 'hour', '2026-03-01T13:00:00.000Z'],
  ['2026-03-01T13:00:00.000Z', 'hour', '2026-03-01T14:00:00.000Z'],
  ['2026-03-01T23:59:59.999Z', 'hour', '2026-03-02T00:00:00.000Z'],
  ['2026-02-28T23:59:59.999Z', 'day', '2026-03-01T00:00:00.000Z'],
  ['2028-02-28T23:59:59.999Z', 'day', '2028-02-29T00:00:00.000Z'],
  ['2026-03-01T00:00:00.000Z', 'day', '2026-03-02T00:00:00.000Z'],
  ['2026-12-31T23:59:59.999Z', 'second', '2027-01-01T00:00:00.000Z'],
  // Clocks of Central Europe go forward here. UTC does not.
  ['2026-03-29T01:30:00.000Z', 'day', '2026-03-30T00:00:00.000Z'],
  // A leap second has no number of its own in POSIX time.
  ['2016-12-31T23:59:59.500Z', 'minute', '2017-01-01T00:00:00.000Z'],
  ['1970-01-01T00:00:00.000Z', 'minute', '1970-01-01T00:01:00.000Z'],
  ['1969-12-31T23:59:59.999Z', 'hour', '1970-01-01T00:00:00.000Z'],
];

for (const [now, unit, end] of TABLE) {
  test(`the ${unit} that holds ${now} ends at ${end}`, () => {
    assert.equal(new Date(windowEnd(Date.parse(now), unit)).toISOString(), end);
    assert.equal(timeToReset(Date.parse(now), unit), Date.parse(end) - Date.parse(now));
  });
}

test('a window is left within its unit and never with nothing to wait for', () => {
  for (const unit of Object.keys(UNIT_MS) as Unit[]) {
    for (const now of [0, 1, 999, 1_000, 59_999, 1_772_368_496_789, 1_772_368_496_789.25]) {
      const reset = timeToReset(now, unit);
      assert.ok(reset > 0 && reset <= UNIT_MS[unit], `${now} ${unit}: ${reset}`);
    }
  }
});

const SECONDS: readonly [resetMs: number, seconds: number][] = [
  [1, 1],
  [999, 1],
  [1_000, 1],
  [1_001, 2],
  [59_999, 60],
  [60_000, 60],
  [86_400_000, 86_400],
  [0.25, 1],
  [0, 1],
];

for (const [resetMs, seconds] of SECONDS) {
  test(`a reset in ${resetMs} ms is a Retry-After of ${seconds}`, () =>
    assert.equal(retryAfterSeconds(resetMs), seconds));
}
