import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSuite, suiteTests } from './suite-tests.ts';

const LINES = `{"name":"A","features":["Gateway"]}
{"name":"B","features":["Gateway","HTTPRoute"]}
{"name":"C","features":["Gateway"]}
{"name":"C","features":["Gateway"],"result":"skipped"}
{"name":"A","features":["Gateway"],"result":"passed"}
`;

test('a test that has no result has failed', () => {
  assert.deepEqual(
    suiteTests(LINES).map(({ name, result }) => [name, result]),
    [
      ['A', 'passed'],
      ['B', 'failed'],
      ['C', 'skipped'],
    ],
  );
});

test('tests are shown by feature, and counted in the last line', () => {
  assert.equal(
    describeSuite(suiteTests(LINES)),
    `Gateway
  ✔ A
  - C
Gateway + HTTPRoute
  ✖ B
Gateway API conformance: 1 passed, 1 failed, 1 skipped
`,
  );
});
