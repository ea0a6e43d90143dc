import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOriginPattern } from '#resources/words/origin-pattern.ts';
import { hostReach } from './host-reach.ts';
import { originMayMeet } from './internal-origins.ts';

for (const [glob, domain, meets] of [
  ['*', 'a.test', true],
  ['*', '*', true],
  ['a.test', 'a.test', true],
  ['a.test', 'b.test', false],
  ['a.test', '*', true],
  ['a.test', '*.test', true],
  ['a.b.test', '*.b.test', true],
  ['a.b.test', '*.test', true],
  ['a.b.test', '*.c.test', false],
  ['test', '*.test', false],
  ['*.b.test', 'a.b.test', true],
  ['*.b.test', 'b.test', false],
  ['*.b.test', '*.c.test', true],
  ['api-*.test', 'api-1.test', true],
  ['api-*.test', 'www.test', false],
  ['[::1]', '::1', true],
  ['constructor', '__proto__', false],
] as const) {
  test(`a rule for ${glob} ${meets ? 'may' : 'cannot'} match in the virtual host of ${domain}`, () => {
    assert.equal(hostReach([glob])(domain), meets);
    assert.equal(hostReach(['other.example', glob, glob])(domain), meets);
  });
}

test('without rules there is nothing to match', () => {
  assert.equal(hostReach([])('*'), false);
});

for (const [pattern, includeSubdomains, domain, meets] of [
  ['*://*', false, 'a.test', true],
  ['https://a.test', false, 'a.test', true],
  ['https://a.test:8443', false, 'a.test', true],
  ['https://a.test', false, 'b.a.test', false],
  ['https://a.test', true, 'b.a.test', true],
  ['https://a.test', true, 'ba.test', false],
  ['https://a.test', false, '*', true],
  ['https://a.test', false, '*.test', true],
  ['https://a.test', false, '*.a.test', false],
  ['https://a.test', true, '*.a.test', true],
  ['https://a.test', true, '*.b.a.test', true],
  ['https://a.test', true, '*.b.test', false],
] as const) {
  const name = includeSubdomains ? `${pattern} with its subdomains` : pattern;
  test(`${name} ${meets ? 'may' : 'cannot'} be a request's origin in the virtual host of ${domain}`, () => {
    const parsed = parseOriginPattern(pattern);
    assert.ok('value' in parsed);
    assert.equal(originMayMeet({ internalOrigin: parsed.value, includeSubdomains }, domain), meets);
  });
}
