import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText, problemLines } from '#resources/testing/problem-lines.ts';

/** Returns the Problems of a route whose only match has this parameter. */
const told = (queryParam: object) =>
  problemLines(
    parseText(
      JSON.stringify({
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'HTTPRoute',
        metadata: { name: 'r' },
        spec: {
          parentRefs: [{ name: 'g' }],
          rules: [{ matches: [{ queryParams: [queryParam] }] }],
        },
      }),
    ),
  );

for (const value of ['a b', 'é', 'a&b', 'a#b', 'a\tb'])
  test(`a parameter with the value ${JSON.stringify(value)} is one that no request has`, () => {
    assert.deepEqual(told({ name: 'q', value }), [
      '1 warning spec.rules[0].matches[0].queryParams[0].value: no request meets this: it has a character that never stands in a query. Write it percent-encoded, as clients send it',
    ]);
  });

test('a value as clients send it, and an expression, are no mistake', () => {
  for (const value of ['a%20b', 'a+b', '%C3%A9', 'a/b?c=d'])
    assert.deepEqual(told({ name: 'q', value }), []);
  assert.deepEqual(told({ name: 'q', type: 'RegularExpression', value: 'a[ b]' }), []);
});
