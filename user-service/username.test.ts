import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUsername } from './username.ts';

for (const name of [
  'a',
  'Alice',
  'alice@example.com',
  'a.b_c-d',
  '0',
  '...',
  'Health',
  'healthy',
  'x'.repeat(64),
]) {
  test(`"${name}" is a username`, () => assert.equal(parseUsername(name), name));
}

for (const name of [
  '',
  'health',
  '.',
  '..',
  'a b',
  'a/b',
  'é',
  'a\n',
  'a\0',
  '%61',
  'x'.repeat(65),
]) {
  test(`${JSON.stringify(name)} is not a username`, () => {
    assert.throws(() => parseUsername(name), { name: 'HttpError', status: 400 });
  });
}
