import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coveringDomains } from './domain-cover.ts';

const CASES: readonly [string, readonly string[]][] = [
  ['*', ['*']],
  ['localhost', ['localhost', '*']],
  ['api.example.com', ['api.example.com', '*.example.com', '*.com', '*']],
  ['*.example.com', ['*.example.com', '*.com', '*']],
  ['::1', ['::1', '*']],
];

for (const [domain, covering] of CASES) {
  test(`${domain} is covered by ${covering.join(', ')}`, () => {
    assert.deepEqual(coveringDomains(domain), covering);
  });
}
