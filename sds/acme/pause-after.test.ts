import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OrderFailure, pauseAfter } from './pause-after.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const REFUSED: OrderFailure = { kind: 'refused' };
const AWAY: OrderFailure = { kind: 'away' };
const limited = (retryAfterMs: number): OrderFailure => ({ kind: 'limited', retryAfterMs });

const PAUSES: readonly [failure: OrderFailure, count: number, spread: number, ms: number][] = [
  [REFUSED, 1, 0, 5_000],
  [REFUSED, 2, 0, MINUTE],
  [REFUSED, 3, 0, 10 * MINUTE],
  [REFUSED, 4, 0, 20 * MINUTE],
  [REFUSED, 4, 0.5, 21 * MINUTE],
  [REFUSED, 6, 0, HOUR],
  [REFUSED, 5_000, 0, HOUR],
  [AWAY, 1, 0, 5_000],
  [AWAY, 2, 0, 10_000],
  [AWAY, 5_000, 0, 5 * MINUTE],
  [{ kind: 'limited' }, 1, 0, 10 * MINUTE],
  [{ kind: 'limited' }, 5_000, 0, HOUR],
  [{ kind: 'refused', retryAfterMs: 1 }, 1, 0, 10 * MINUTE],
  [limited(1), 1, 0, 10 * MINUTE],
  [limited(2 * HOUR), 1, 0, 2 * HOUR],
  [limited(2 * HOUR), 9, 0.9, 2 * HOUR],
  [limited(1_000 * HOUR), 1, 0, 24 * HOUR],
  [{ kind: 'away', retryAfterMs: HOUR }, 1, 0, HOUR],
];

for (const [failure, count, spread, ms] of PAUSES) {
  test(`after failure ${count}, ${JSON.stringify(failure)}, come ${ms / 1_000} s at ${spread}`, () => {
    assert.equal(Math.round(pauseAfter(failure, count, spread)), ms);
  });
}

test('at most five proofs fail in an hour, whenever the authority refuses all', () => {
  const times = [0];
  for (let count = 1; count < 20; count += 1)
    times.push((times.at(-1) ?? 0) + pauseAfter(REFUSED, count, 0));
  for (const time of times) {
    const within = times.filter(other => other >= time && other < time + HOUR);
    assert.ok(within.length <= 5, `${within.length} after ${time}`);
  }
});
