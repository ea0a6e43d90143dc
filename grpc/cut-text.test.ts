import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectGarbage } from '#xds/testing/collect-garbage.ts';
import { cutText } from './cut-text.ts';

test('a text is cut to so many characters, and to no half of one', () => {
  assert.equal(cutText('abc', 3), 'abc');
  assert.equal(cutText('abcd', 3), 'abc');
  assert.equal(cutText('ab😀', 3), 'ab\ufffd');
});

test('what is cut does not keep all of its text in memory', () => {
  const kept: string[] = [];
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 50; i += 1)
    kept.push(cutText(`${i}${'x'.repeat(1_000_000)}`.toUpperCase(), 1_000));
  collectGarbage();
  const grown = process.memoryUsage().heapUsed - before;
  assert.equal(kept.length, 50);
  assert.ok(grown < 10_000_000, `${grown} bytes`);
});
