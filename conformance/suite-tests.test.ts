import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSuite, parseTest, saidBy } from './suite-tests.ts';

const LINES = [
  '{"name":"A","features":["Gateway"],"result":"passed"}',
  '{"name":"B","features":["Gateway","HTTPRoute"]}',
  '{"name":"C","features":["Gateway"],"result":"skipped"}',
];

const OUTPUT = `=== RUN   TestConformance
=== RUN   TestConformance/A
    a.go:1: one
=== RUN   TestConformance/B
    b.go:1: two
=== NAME  TestConformance/A/some_case
    a.go:2: three
`;

test('a test that has no result has failed', () => {
  assert.deepEqual(
    LINES.map(parseTest).map(({ name, result }) => [name, result]),
    [
      ['A', 'passed'],
      ['B', 'failed'],
      ['C', 'skipped'],
    ],
  );
});

test('tests are shown by feature, and counted in the last line', () => {
  assert.equal(
    describeSuite(LINES.map(parseTest)),
    `Gateway
  ✔ A
  - C
Gateway + HTTPRoute
  ✖ B
Gateway API conformance: 1 passed, 1 failed, 1 skipped
`,
  );
});

test('what a test says is found between what others say', () => {
  assert.doesNotMatch(saidBy('A', OUTPUT), /two/);
  assert.match(saidBy('A', OUTPUT), /one\n.*\n.*three/);
});
