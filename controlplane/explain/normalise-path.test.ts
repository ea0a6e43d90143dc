import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalisePath } from './normalise-path.ts';

/** Envoy 1.40 answered so, and route-match.test.ts compares random paths with it. */
const NORMALISED: readonly (readonly [string, string | undefined])[] = [
  ['/', '/'],
  ['/a/./b', '/a/b'],
  ['/a/../b', '/b'],
  ['/../a', '/a'],
  ['/a/..', '/'],
  ['/a/.', '/a/'],
  ['/a/%2e%2E/b', '/b'],
  ['/a/..;x=1/b', '/b'],
  ['/a/%2e%2e;/b', '/a/..;/b'],
  ['/a/..%3b/b', '/a/..%3b/b'],
  ['/a\\..\\b', '/b'],
  ['/a/b//../../c', '/a/c'],
  ['//a///b//', '/a/b/'],
  ['//', '//'],
  ['/...', '/...'],
  ['/%41%7e%2F%e9', '/A~%2F%e9'],
  ['/"<>`{}|^[]', '/%22%3C%3E%60%7B%7D%7C%5E[]'],
  ['/%zz%4%', '/%zz%4%'],
  ['/%4%41', '/%254A'],
  ['/%%3030', '/%25030'],
  ['/a%00', undefined],
  ['/..;%00/a', '/a'],
];

for (const [path, normalised] of NORMALISED) {
  test(`${path} is ${normalised ?? 'refused'}`, () => {
    assert.equal(normalisePath(path), normalised);
  });
}

test('a long path takes no long time', () => {
  const path = `${'/..;'.repeat(20_000)}/%${'%47'.repeat(50_000)}${'%4'.repeat(20_000)}`;
  assert.equal(normalisePath(path)?.length, 1 + 1 + 50_000 + 40_000);
});
