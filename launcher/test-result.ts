import { relative } from 'node:path';

/** Something that a test file did: a line of the reporter in `file-events.ts`. */
export type FileEvent = {
  readonly file: string;
  readonly passed?: true;
  /** The name of the test, and its error. */
  readonly failed?: string;
  /** The name of the test, and the reason. */
  readonly skipped?: string;
  /** What the file wrote to stdout or stderr. */
  readonly output?: string;
};

/** What came of one test file. */
export type FileResult = {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
  readonly output: string;
};

/** By the file's path below the root. */
export type TestResults = ReadonlyMap<string, FileResult>;

/** A file that failed in the whole run, and what came of it when it ran once more, alone. */
export type Retried = { readonly file: string; readonly first: FileResult; readonly second: FileResult };

/** A file's output in the closing lines: the end of it tells most. */
const LONGEST_OUTPUT = 20_000;

const NOTHING: FileResult = { passed: 0, failed: [], skipped: [], output: '' };

/** Reads the lines of the reporter in `file-events.ts`, of files below `root`. */
export function parseTestResults(root: string, lines: string): TestResults {
  const results = new Map<string, FileResult>();
  for (const line of lines.split('\n').filter(text => text !== '')) {
    const event = JSON.parse(line) as FileEvent;
    const file = relative(root, event.file);
    results.set(file, withEvent(results.get(file) ?? NOTHING, event));
  }
  return results;
}

function withEvent(result: FileResult, event: FileEvent): FileResult {
  const { failed, output, passed, skipped } = event;
  return {
    passed: result.passed + (passed === true ? 1 : 0),
    failed: failed === undefined ? result.failed : [...result.failed, failed],
    skipped: skipped === undefined ? result.skipped : [...result.skipped, skipped],
    output: result.output + (output ?? ''),
  };
}

export function failedFiles(results: TestResults): readonly string[] {
  return [...results].filter(([, { failed }]) => failed.length > 0).map(([file]) => file);
}

export function skippedTests(results: TestResults): readonly string[] {
  return [...results.values()].flatMap(({ skipped }) => skipped);
}

/** Returns the results of the run with those of the second tries in place of the first. */
export function withRetries(results: TestResults, retried: readonly Retried[]): TestResults {
  return new Map([...results, ...retried.map(({ file, second }) => [file, second] as const)]);
}

/** Returns the last lines of `npm test`. The very last one gives the totals. */
export function describeTestResults(results: TestResults, retried: readonly Retried[]): string {
  const all = [...results.values()];
  const passed = all.reduce((sum, result) => sum + result.passed, 0);
  const failed = all.reduce((sum, result) => sum + result.failed.length, 0);
  const skipped = skippedTests(results);
  const reasons = skipped.map(reason => `skipped: ${reason}\n`);
  const totals = `${passed} passed, ${failed} failed, ${skipped.length} skipped\n`;
  return [...retried.map(describeRetried), ...reasons, totals].join('');
}

function describeRetried({ file, first, second }: Retried): string {
  const flaky = second.failed.length === 0;
  const verdict = flaky
    ? `flaky: ${file} failed in the whole run and passed alone. Mend it before the next change.`
    : `failed twice: ${file} failed in the whole run, and again alone.`;
  return `${verdict}\n  first, in the whole run:\n${outputOf(first)}  second, alone:\n${outputOf(second)}`;
}

function outputOf({ failed, output, passed }: FileResult): string {
  const text = [...failed.map(failure => `✖ ${failure}`), output.trimEnd(), `${passed} passed`].join('\n');
  const end = text.length > LONGEST_OUTPUT ? `… ${text.slice(-LONGEST_OUTPUT)}` : text;
  return end
    .split('\n')
    .filter(line => line !== '')
    .map(line => `    ${line}\n`)
    .join('');
}
