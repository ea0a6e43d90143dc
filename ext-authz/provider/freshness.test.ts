import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usableFor } from './freshness.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const S = 1_000;
const MINUTE = 60 * S;
const DAY = 24 * 60 * MINUTE;

for (const [header, usable] of [
  ['', 5 * MINUTE],
  ['public', 5 * MINUTE],
  ['max-age=120', 2 * MINUTE],
  ['Max-Age=120', 2 * MINUTE],
  ['public, max-age=22063, must-revalidate, no-transform', 22_063 * S],
  ['private, max-age=120', 2 * MINUTE],
  ['s-maxage=120', 5 * MINUTE],
  ['max-age=0', 10 * S],
  ['max-age=3', 10 * S],
  ['no-store', 10 * S],
  ['No-Cache', 10 * S],
  ['no-cache, max-age=600', 10 * S],
  ['no-store, max-age=600', 10 * S],
  ['max-age=31536000, immutable', DAY],
  ['max-age=-5', 10 * S],
] as const) {
  test(`Cache-Control "${header}": usable for ${usable / S} s`, () => {
    assert.equal(
      usableFor(new Headers(header === '' ? {} : { 'cache-control': header }), 0, NOW),
      usable,
    );
  });
}

test('Age counts', () => {
  assert.equal(
    usableFor(new Headers({ 'cache-control': 'max-age=120', age: '100' }), 0, NOW),
    20 * S,
  );
});

test('Expires counts from Date', () => {
  const headers = {
    date: 'Sat, 21 Nov 2026 10:00:00 GMT',
    expires: 'Sat, 21 Nov 2026 10:01:00 GMT',
  };
  assert.equal(usableFor(new Headers(headers), 0, NOW), MINUTE);
});

test('Expires counts from the receipt when there is no Date that can be read', () => {
  const expires = 'Sat, 21 Nov 2026 12:01:00 GMT';
  assert.equal(usableFor(new Headers({ expires }), 0, NOW), MINUTE);
  assert.equal(usableFor(new Headers({ expires, date: 'today' }), 0, NOW), MINUTE);
});

test('an Expires that is no date is the past', () => {
  assert.equal(usableFor(new Headers({ expires: '0' }), 0, NOW), 10 * S);
});

test('Pragma: no-cache counts as Cache-Control: no-cache', () => {
  assert.equal(usableFor(new Headers({ pragma: 'no-cache' }), 0, NOW), 10 * S);
});

for (const [header, usable] of [
  ['max-age=120', 2 * MINUTE + 30 * MINUTE],
  ['no-store', 35 * MINUTE],
  ['no-cache, max-age=120', 32 * MINUTE],
  ['no-cache="set-cookie, x", max-age=120', 32 * MINUTE],
  ['max-age=120, must-revalidate', 2 * MINUTE],
  ['max-age=0', 30 * MINUTE],
] as const) {
  test(`with maxStale 30m, Cache-Control "${header}": usable for ${usable / S} s`, () => {
    assert.equal(usableFor(new Headers({ 'cache-control': header }), 30 * MINUTE, NOW), usable);
  });
}
