import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RE2JS } from 're2js';
import { withAnyPort } from './authority-match.ts';

/** Matches the whole text, as Envoy's `safe_regex`. */
const matches = (regex: string, authority: string) => RE2JS.matches(withAnyPort(regex), authority);

const SAME_WITH_PORT: readonly (readonly [regex: string, host: string, other: string])[] = [
  ['a\\.test', 'a.test', 'b.test'],
  ['^a\\.test$', 'a.test', 'a.test.evil'],
  ['^a\\.test\\z', 'a.test', 'xa.test'],
  ['a\\.test|b\\.test', 'b.test', 'c.test'],
  ['(a\\.test$|b\\.test)', 'a.test', 'a.test$'],
  ['[a-z]+\\.test', 'shop.test', 'shop.example'],
  ['[$a]\\.test', '$.test', 'b.test'],
  ['[]$]\\.test', '$.test', 'b.test'],
  ['[[:alpha:]$]\\.test', '$.test', '1.test'],
  ['\\Qa$.test\\E', 'a$.test', 'a.test'],
  ['\\$\\.test', '$.test', '.test'],
  ['\\[::1\\]', '[::1]', '[::2]'],
  ['.*\\.test$', 'shop.test', 'shop.tests'],
];

for (const [regex, host, other] of SAME_WITH_PORT) {
  test(`${regex} matches ${host} with any port, and ${other} with none`, () => {
    for (const port of ['', ':80', ':8443', ':', ':x']) {
      assert.equal(matches(regex, host + port), true, port);
      assert.equal(matches(regex, other + port), false, port);
    }
  });
}

test('an expression for a port matches that port alone', () => {
  assert.equal(matches('^a\\.test:8080$', 'a.test:8080'), true);
  assert.equal(matches('^a\\.test:8080$', 'a.test'), false);
  assert.equal(matches('^a\\.test:8080$', 'a.test:80'), false);
});

test('a port is no part of an IPv6 address', () => {
  assert.equal(matches('\\[:', '[::1]'), false);
});
