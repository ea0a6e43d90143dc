import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intersectHostnames } from './hostnames.ts';

const CASES: readonly [listener: string, route: readonly string[], served: readonly string[]][] = [
  ['*', [], ['*']],
  ['*', ['a.example.com', '*.example.org'], ['a.example.com', '*.example.org']],
  ['a.example.com', [], ['a.example.com']],
  ['a.example.com', ['a.example.com', 'b.example.com'], ['a.example.com']],
  ['a.example.com', ['*.example.com'], ['a.example.com']],
  ['a.example.com', ['*.com', '*.example.com'], ['a.example.com']],
  ['*.example.com', ['a.example.com', 'a.b.example.com'], ['a.example.com', 'a.b.example.com']],
  ['*.example.com', ['*.b.example.com', '*.com'], ['*.b.example.com', '*.example.com']],
  ['*.example.com', ['example.com', 'badexample.com', '*.example.org'], []],
  ['example.com', ['*.example.com'], []],
];

for (const [listener, route, served] of CASES) {
  test(`a route for ${route.join(' and ') || 'any host'} serves ${served.join(' and ') || 'nothing'} on a listener for ${listener}`, () => {
    assert.deepEqual(intersectHostnames(listener, route), served);
  });
}
