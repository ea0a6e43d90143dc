/** Something that a test file did. Tests are named with the suites that they are in. */
export type FileEvent = {
  readonly passed?: string;
  /** The name of the test, and its error. */
  readonly failed?: string;
  /** The name of the test, and the reason. */
  readonly skipped?: string;
  /** What the file wrote to stdout or stderr. */
  readonly output?: string;
};

/** What came of one test file. */
export type FileResult = {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
  readonly output: string;
  /** How long it took. */
  readonly ms: number;
  /** The processor time of its process, and of those that it started. */
  readonly processorMs: number;
};

/** By the file's path below the root. */
export type TestResults = ReadonlyMap<string, FileResult>;

/** A file that failed in the whole run, and what came of it when it ran once more, alone. */
export type Retried = {
  readonly file: string;
  readonly first: FileResult;
  readonly second: FileResult;
};

/** A file's output in the closing lines: the end of it tells most. */
const LONGEST_OUTPUT = 20_000;

/** Of so many files the closing lines tell how long they took. */
const SLOWEST = 20;

export const NOTHING: FileResult = {
  passed: [],
  failed: [],
  skipped: [],
  output: '',
  ms: 0,
  processorMs: 0,
};

/** Returns the result with what the file did next. */
export function withEvent(result: FileResult, event: FileEvent): FileResult {
  const { failed, output = '', passed, skipped } = event;
  return {
    ...result,
    passed: passed === undefined ? result.passed : [...result.passed, passed],
    failed: failed === undefined ? result.failed : [...result.failed, failed],
    skipped: skipped === undefined ? result.skipped : [...result.skipped, skipped],
    output: result.output + output,
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
  const count = (of: 'passed' | 'failed') =>
    all.reduce((sum, result) => sum + result[of].length, 0);
  const skipped = skippedTests(results);
  const reasons = skipped.map(reason => `skipped: ${reason}\n`);
  const totals = `${count('passed')} passed, ${count('failed')} failed, ${skipped.length} skipped\n`;
  return [describeSlowest(results), ...retried.map(describeRetried), ...reasons, totals].join('');
}

function describeSlowest(results: TestResults): string {
  const slowest = [...results].sort(([, a], [, b]) => b.ms - a.ms).slice(0, SLOWEST);
  const seconds = (ms: number) => (ms / 1000).toFixed(1).padStart(7);
  const lines = slowest.map(
    ([file, { ms, processorMs }]) => `${seconds(ms)} s ${seconds(processorMs)} s  ${file}\n`,
  );
  return ['the slowest files, with their time and their processor time:\n', ...lines].join('');
}

/**
 * Returns a line for each file with its time and its processor time in seconds, and its path, by
 * tabs. What took the most of the processor comes first.
 */
export function listTimes(results: TestResults): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  return [...results]
    .sort(([, a], [, b]) => b.processorMs - a.processorMs)
    .map(([file, { ms, processorMs }]) => `${seconds(ms)}\t${seconds(processorMs)}\t${file}\n`)
    .join('');
}

function describeRetried({ file, first, second }: Retried): string {
  const flaky = second.failed.length === 0;
  const verdict = flaky
    ? `flaky: ${file} failed in the whole run and passed alone. Mend it before the next change.`
    : `failed twice: ${file} failed in the whole run, and again alone.`;
  return `${verdict}\n  first, in the whole run:\n${outputOf(first)}  second, alone:\n${outputOf(second)}`;
}

/** Returns the failures of a file, and the end of what it wrote. */
export function outputOf({ failed, output, passed }: FileResult): string {
  const failures = failed.map(failure => `✖ ${failure}`);
  const text = [...failures, output.trimEnd(), `${passed.length} passed`].join('\n');
  const end = text.length > LONGEST_OUTPUT ? `… ${text.slice(-LONGEST_OUTPUT)}` : text;
  return end
    .split('\n')
    .filter(line => line !== '')
    .map(line => `    ${line}\n`)
    .join('');
}
