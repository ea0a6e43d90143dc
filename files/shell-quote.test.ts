import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shellQuote } from './shell-quote.ts';

test('a path with spaces and quotes is one word of a shell', () => {
  assert.equal(shellQuote('a b'), "'a b'");
  assert.equal(shellQuote("it's"), "'it'\\''s'");
});
