import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { headerCondition } from '#resources/match/header-condition.ts';
import { toRequestMatcher } from './parse-condition.ts';

const REQUEST = requestWith(
  { 'x-a': '1' },
  { authority: 'site.test', method: 'OPTIONS', target: '/a?b' },
);
const holds = (written: object) => toRequestMatcher(headerCondition.parse(written))(REQUEST);

test('a condition on the host holds with its port and without', () => {
  const request = requestWith({}, { authority: 'site.test:8080' });
  const holds = (written: object) =>
    toRequestMatcher(headerCondition.parse({ name: 'Host', ...written }))(request);
  assert.equal(holds({ value: 'site.test' }), true);
  assert.equal(holds({ value: 'Site.test:8080' }), true);
  assert.equal(holds({ value: 'site.test:80' }), false);
  assert.equal(holds({ valueRegex: '^site\\.test$' }), true);
  assert.equal(holds({ value: 'site.test', negate: true }), false);
});

for (const [name, value, other] of [
  ['X-A', '1', '2'],
  ['Host', 'Site.Test', 'other.test'],
  [':authority', 'site.test', 'site.tes'],
  [':method', 'OPTIONS', 'options'],
  [':path', '/a?b', '/a'],
  [':scheme', 'http', 'https'],
] as const) {
  test(`a condition reads ${name} of a request`, () => {
    assert.deepEqual(
      [{ name, value }, { name, value: other }, { name }, { name, value, negate: true }].map(holds),
      [true, false, true, false],
    );
  });
}
