import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineSplitter } from './lines.ts';

test('lines come whole, however they are cut', () => {
  for (const pieces of [['a\nbc\n'], ['a', '\n', 'b', 'c', '\n'], ['a\nb', 'c\nrest']]) {
    const lines: string[] = [];
    const split = lineSplitter(10, line => lines.push(line));
    for (const piece of pieces) split(piece);
    assert.deepEqual(lines, ['a', 'bc']);
  }
});

test('a line without an end is refused when it is too long', () => {
  const split = lineSplitter(4, () => {});
  split('abcd');
  assert.throws(() => split('e'), /more than 4/);
});
