import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import {
  describeTestResults,
  type FileResult,
  failedFiles,
  parseTestResults,
  skippedTests,
  type TestResults,
  withRetries,
} from '../test-result.ts';

const folder = mkdtempSync(join(tmpdir(), 'test-result-'));
after(() => rmSync(folder, { recursive: true }));

/** What the runner tells of these files, through our reporter. */
function resultsOf(files: Readonly<Record<string, string>>): TestResults {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { NODE_TEST_CONTEXT: _own, ...env } = process.env;
  const reporter = join(import.meta.dirname, '..', 'file-events.ts');
  const options = [
    '--test',
    '--test-timeout=20000',
    `--test-reporter=${reporter}`,
    '--test-reporter-destination=stdout',
  ];
  const paths = Object.keys(files).map(name => join(folder, name));
  const { stdout } = spawnSync(process.execPath, [...options, ...paths], { env, encoding: 'utf8' });
  return parseTestResults(folder, stdout);
}

const HEAD = "import { after, before, describe, test } from 'node:test';";

const RESULTS = resultsOf({
  'mixed.test.mjs': `${HEAD}
    describe('a suite', () => {
      test('works', () => {});
      test('breaks', () => { console.error('a line before'); throw new Error('broken here'); });
      test('rests', { skip: 'no "ip"' }, () => {});
      test('also rests', { skip: true }, () => {});
      test('is planned', { todo: true }, () => {});
    });`,
  'unloadable.test.mjs': "import './missing.mjs';",
  'left-with-code.test.mjs': `${HEAD} test('works', () => {}); process.on('exit', () => { process.exitCode = 3; });`,
  'hook.test.mjs': `${HEAD} describe('a suite', () => { after(() => { throw new Error('in the hook'); }); test('works', () => {}); });`,
  'cancelled.test.mjs': `${HEAD} describe('a suite', () => { before(() => { throw new Error('at first'); }); test('waits', () => {}); });`,
  'good.test.mjs': `${HEAD} test('works', () => {}); test('works, too', () => {});`,
});

const result = (over: Partial<FileResult>): FileResult => ({
  passed: 0,
  failed: [],
  skipped: [],
  output: '',
  ...over,
});

describe('the result of a test run', () => {
  test('is told by file', () => {
    const { passed, failed, skipped, output } = RESULTS.get('mixed.test.mjs') ?? result({});
    assert.deepEqual(
      { passed, skipped },
      { passed: 1, skipped: ['rests: no "ip"', 'also rests: no reason given'] },
    );
    assert.equal(failed.length, 1);
    assert.match(failed[0] ?? '', /^breaks: Error: broken here\n/);
    assert.match(output, /a line before/);
  });

  test('blames each file that did not pass, however it failed', () => {
    assert.deepEqual(failedFiles(RESULTS).toSorted(), [
      'cancelled.test.mjs',
      'hook.test.mjs',
      'left-with-code.test.mjs',
      'mixed.test.mjs',
      'unloadable.test.mjs',
    ]);
  });

  test('ends with the totals', () => {
    const lines = describeTestResults(new Map([['a', result({ passed: 3, skipped: ['b: why'] })]]), []);
    assert.equal(lines, 'skipped: b: why\n3 passed, 0 failed, 1 skipped\n');
  });
});

describe('a file that ran once more', () => {
  const first = result({ passed: 4, failed: ['is quick: Error: too late'], output: 'a busy machine\n' });
  const results = new Map([
    ['flaky.test.ts', first],
    ['good.test.ts', result({ passed: 2, skipped: ['x: y'] })],
  ]);

  test('and passed passes, and is named with both outputs', () => {
    const retried = [
      { file: 'flaky.test.ts', first, second: result({ passed: 5, output: 'all is well\n' }) },
    ];
    const together = withRetries(results, retried);
    assert.deepEqual(failedFiles(together), []);
    assert.deepEqual(skippedTests(together), ['x: y']);
    assert.equal(
      describeTestResults(together, retried),
      `flaky: flaky.test.ts failed in the whole run and passed alone. Mend it before the next change.
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
      /^failed twice: flaky\.test\.ts .*\n(.*\n)*6 passed, 1 failed, 1 skipped\n$/,
    );
  });
});
