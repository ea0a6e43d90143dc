import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText, problemLines } from '#resources/testing/problem-lines.ts';

/** Returns the Problems of a route with this rule alone. */
const toldOfRule = (rule: object, kind = 'HTTPRoute') =>
  problemLines(
    parseText(
      JSON.stringify({
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind,
        metadata: { name: 'r' },
        spec: { parentRefs: [{ name: 'g' }], rules: [rule] },
      }),
    ),
  ).map(line => line.replace('1 warning spec.rules[0].', ''));

const told = (queryParam: object) => toldOfRule({ matches: [{ queryParams: [queryParam] }] });

for (const value of ['a b', 'é', 'a&b', 'a#b', 'a\tb'])
  test(`a parameter with the value ${JSON.stringify(value)} is one that no request has`, () => {
    assert.deepEqual(told({ name: 'q', value }), [
      'matches[0].queryParams[0].value: no request meets this: it has a character that is never part of a query. Write it percent-encoded, as clients send it',
    ]);
  });

test('a value as clients send it, and an expression, are no mistake', () => {
  for (const value of ['a%20b', 'a+b', '%C3%A9', 'a/b?c=d'])
    assert.deepEqual(told({ name: 'q', value }), []);
  assert.deepEqual(told({ name: 'q', type: 'RegularExpression', value: 'a[ b]' }), []);
});

for (const [type, value, why] of [
  ['Exact', '/%7Eada', '"%7E" arrives as "~". Write that'],
  ['PathPrefix', '/a%2Eb', '"%2E" arrives as "."'],
  ['RegularExpression', 'api/.*', 'a path begins with "/"'],
] as const)
  test(`a path that no request has is told: ${type} ${value}`, () => {
    const [line = '', ...more] = toldOfRule({ matches: [{ path: { type, value } }] });
    assert.deepEqual(more, []);
    assert.ok(line.startsWith(`matches[0].path.value: it matches nothing: ${why}`), line);
  });

test('a path as it arrives is no mistake', () => {
  for (const value of ['/~ada', '/caf%C3%A9', '/a%20b'])
    assert.deepEqual(toldOfRule({ matches: [{ path: { value } }] }), []);
});

for (const kind of ['HTTPRoute', 'GRPCRoute']) {
  test(`a header with "_" in its name is one that no request of an ${kind} has`, () => {
    const why = 'it matches nothing: the edge answers 400 to a header with "_" in its name';
    const headers = [
      { name: 'x-a', value: '1' },
      { name: 'x_b', value: '1' },
    ];
    const sessionPersistence = { type: 'Header', header: { name: 'x_session' } };
    assert.deepEqual(toldOfRule({ matches: [{ headers }], sessionPersistence }, kind), [
      `matches[0].headers[1].name: ${why}`,
      `sessionPersistence.header.name: ${why}`,
    ]);
  });

  test(`a change of the header Server by an ${kind} is told to have no effect`, () => {
    const of = (change: object) => ({
      type: 'ResponseHeaderModifier',
      responseHeaderModifier: change,
    });
    const value = 'mine';
    assert.deepEqual(
      toldOfRule(
        {
          filters: [of({ remove: ['server'] })],
          backendRefs: [
            { name: 'a', port: 80, filters: [of({ set: [{ name: 'Server', value }] })] },
            { name: 'b', port: 80, filters: [of({ set: [{ name: 'X-Server', value }] })] },
          ],
        },
        kind,
      ),
      ['filters[0]', 'backendRefs[0].filters[0]'].map(
        place =>
          `${place}.responseHeaderModifier: the edge writes \`server\` itself: \`server_name\` of the Module says what`,
      ),
    );
  });
}
