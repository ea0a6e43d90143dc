import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerCondition } from '#resources/header-condition.ts';
import { toRequestMatcher } from './parse-condition.ts';
import { requestWith } from './testing/requests.ts';

const REQUEST = requestWith({ 'x-a': '1' }, { authority: 'site.test', method: 'OPTIONS', target: '/a?b' });
const holds = (written: object) => toRequestMatcher(headerCondition.parse(written))(REQUEST);

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
