import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeTestResult, parseTestResult } from './test-result.ts';

const TAP = `TAP version 13
# Subtest: a suite
    # Subtest: works
    ok 1 - works
    ok 2 - needs a tool # SKIP no "ip" (package iproute2): there is no apt-get
    ok 3 - not here # SKIP
    1..3
ok 1 - a suite
1..1
# tests 4
# pass 1
# fail 1
# cancelled 1
# skipped 2
`;

describe('the result of a test run', () => {
  test('counts what was cancelled as failed', () => {
    assert.equal(parseTestResult(TAP).failed, 2);
  });

  test('is told in closing lines that name what was skipped and why', () => {
    assert.equal(
      describeTestResult(parseTestResult(TAP)),
      'skipped: needs a tool: no "ip" (package iproute2): there is no apt-get\nskipped: not here: no reason given\n1 passed, 2 failed, 2 skipped\n',
    );
  });
});
