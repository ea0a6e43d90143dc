import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  describeTestResults,
  type FileResult,
  failedFiles,
  listTimes,
  NOTHING,
  skippedTests,
  withEvent,
  withRetries,
} from './test-result.ts';

const result = (over: Partial<FileResult>): FileResult => ({ ...NOTHING, ...over });

describe('the result of a test run', () => {
  test('is what each file did, in its order', () => {
    const events = [
      { passed: 'a' },
      { failed: 'b: why' },
      { output: '1' },
      { skipped: 'c' },
      { output: '2' },
    ];
    assert.deepEqual(events.reduce(withEvent, NOTHING), {
      passed: ['a'],
      failed: ['b: why'],
      skipped: ['c'],
      output: '12',
      ms: 0,
      processorMs: 0,
    });
  });

  test('ends with the slowest files, why tests were skipped, and the totals', () => {
    const results = new Map([
      ['quick.test.ts', result({ passed: ['a', 'b'], ms: 40 })],
      [
        'slow.test.ts',
        result({ passed: ['c'], skipped: ['d: why'], ms: 12_345, processorMs: 6_780 }),
      ],
    ]);
    assert.equal(
      describeTestResults(results, []),
      `the slowest files, with their time and their processor time:
   12.3 s     6.8 s  slow.test.ts
    0.0 s     0.0 s  quick.test.ts
skipped: d: why
3 passed, 0 failed, 1 skipped
`,
    );
  });

  test('names no more than twenty files as slow', () => {
    const results = new Map(
      Array.from({ length: 30 }, (_, n) => [`${n}.test.ts`, result({ ms: n })]),
    );
    const said = describeTestResults(results, []);
    assert.equal(said.match(/\.test\.ts$/gm)?.length, 20);
    assert.doesNotMatch(said, / 9\.test\.ts/);
  });

  test('lists the times of all files, with what took most of the processor first', () => {
    const results = new Map([
      ['waits.test.ts', result({ ms: 12_345, processorMs: 40 })],
      ['works.test.ts', result({ ms: 6_789, processorMs: 6_780 })],
    ]);
    assert.equal(listTimes(results), '6.79\t6.78\tworks.test.ts\n12.35\t0.04\twaits.test.ts\n');
  });
});

describe('a file that ran once more', () => {
  const passing = (count: number) => Array.from({ length: count }, (_, n) => `test ${n}`);
  const first = result({
    passed: passing(4),
    failed: ['is quick: Error: too late'],
    output: 'a busy machine\n',
  });
  const results = new Map([
    ['flaky.test.ts', first],
    ['good.test.ts', result({ passed: passing(2), skipped: ['x: y'] })],
  ]);

  test('and passed passes, and is named with both outputs', () => {
    const retried = [
      {
        file: 'flaky.test.ts',
        first,
        second: result({ passed: passing(5), output: 'all is well\n' }),
      },
    ];
    const together = withRetries(results, retried);
    assert.deepEqual(failedFiles(together), []);
    assert.deepEqual(skippedTests(together), ['x: y']);
    assert.equal(
      describeTestResults(together, retried),
      `the slowest files, with their time and their processor time:
    0.0 s     0.0 s  flaky.test.ts
    0.0 s     0.0 s  good.test.ts
flaky: flaky.test.ts failed in the whole run and passed alone. Mend it before the next change.
  first, in the whole run:
    ✖ is quick: Error: too late
    a busy machine
    4 passed
  second, alone:
    all is well
    5 passed
skipped: x: y
7 passed, 0 failed, 1 skipped
`,
    );
  });

  test('and failed again fails the run', () => {
    const retried = [{ file: 'flaky.test.ts', first, second: first }];
    const together = withRetries(results, retried);
    assert.deepEqual(failedFiles(together), ['flaky.test.ts']);
    assert.match(
      describeTestResults(together, retried),
      /^failed twice: flaky\.test\.ts .*\n(.*\n)*6 passed, 1 failed, 1 skipped\n$/m,
    );
  });
});
