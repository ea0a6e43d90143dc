import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicSuffix } from './public-suffix.ts';

for (const [host, expected] of [
  ['com', true],
  ['localhost', true],
  ['internal', true],
  ['co.uk', true],
  ['github.io', true],
  ['example.com', false],
  ['example.co.uk', false],
  ['me.github.io', false],
  ['shop.internal', false],
] as const) {
  test(`${host} is ${expected ? 'a' : 'no'} public suffix`, () => {
    assert.equal(isPublicSuffix(host), expected);
  });
}
