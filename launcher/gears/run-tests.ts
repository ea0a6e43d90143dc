import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { isEndToEnd } from '../test-files.ts';
import {
  describeTestResults,
  type FileResult,
  failedFiles,
  listTimes,
  outputOf,
  type Retried,
  skippedTests,
  type TestResults,
  withRetries,
} from '../test-result.ts';
import { longestMs, slowestFirst } from './limits.ts';
import { type PoolOptions, runPool } from './test-pool.ts';

export type RunOptions = {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether a file that fails runs once more. */
  readonly retry: boolean;
  /** Whether each test is printed, or only what failed. */
  readonly verbose: boolean;
  say(line: string): void;
};

/**
 * Folders whose files leave nothing to the next file. A process of its own costs a file a second of
 * processor time, for the modules that most tests import.
 */
const SHARING = [
  'cli/',
  'controlplane/compile/e2e/',
  'controlplane/explain/e2e/',
  'ext-authz/',
  'grpc/',
  'ratelimit-service/',
  'redis/',
  'resources/',
  'sds/',
  'user-service/',
  'xds/',
];

/** A run is never silent for longer than this. */
const PROGRESS_MS = 10_000;

/** The times of all files of the last run, below the root. */
const TIMES = '.gateway/test-times.tsv';

/**
 * Runs the files, and prints the results. Those that start programs come last, except that the
 * longest ones run beside all others, and one more at a time. With `retry`, a file that failed runs
 * once more when all else has ended, alone in its own process.
 */
export async function runTests(
  files: readonly string[],
  options: RunOptions,
): Promise<{ readonly passed: boolean; readonly skipped: number }> {
  const results = await runAll(files, options);
  const retried: Retried[] = [];
  for (const file of options.retry ? failedFiles(results) : []) {
    options.say(`${file} failed: running it once more, alone ...`);
    const second = (
      await runSome([file], { workers: () => 1, sharing: false }, options, () => {})
    ).get(file);
    const first = results.get(file);
    if (first !== undefined && second !== undefined) retried.push({ file, first, second });
  }
  const final = withRetries(results, retried);
  process.stdout.write(describeTestResults(final, retried));
  keepTimes(join(options.root, TIMES), final);
  return { passed: failedFiles(final).length === 0, skipped: skippedTests(final).length };
}

function keepTimes(path: string, results: TestResults): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, listTimes(results));
}

async function runAll(files: readonly string[], options: RunOptions): Promise<TestResults> {
  const cores = availableParallelism();
  const all = new Map<string, FileResult>();
  const started = Date.now();
  const told = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    options.say(
      `${all.size} of ${files.length} files, ${failedFiles(all).length} failed, ${seconds} s`,
    );
  };
  const ended = (file: string, result: FileResult) => {
    all.set(file, result);
    if (options.verbose) process.stdout.write(describeFile(file, result));
    else if (result.failed.length > 0) process.stdout.write(`${file} failed\n${outputOf(result)}`);
  };
  const progress = setInterval(told, PROGRESS_MS);
  const {
    apart = [],
    long = [],
    shared = [],
  } = Object.groupBy(files, file =>
    longestMs(file) !== undefined ? 'long' : isEndToEnd(file) ? 'apart' : 'shared',
  );
  let left = shared.length;
  const sharing = { workers: () => cores, most: 2 * cores, sharing: true };
  const starting = {
    workers: () => (left > 0 ? 1 : cores),
    most: 2 * cores,
    sharing: true,
    programs: true,
    apart: (file: string) => !SHARING.some(folder => file.startsWith(folder)),
  };
  await Promise.all([
    runSome(long, { workers: () => long.length, sharing: false }, options, ended),
    runSome(slowestFirst(apart), starting, options, ended),
    runSome(slowestFirst(shared), sharing, options, (file, result) => {
      left -= 1;
      ended(file, result);
    }),
  ]);
  clearInterval(progress);
  told();
  return all;
}

async function runSome(
  files: readonly string[],
  how: Pick<PoolOptions, 'workers' | 'most' | 'sharing' | 'programs' | 'apart'>,
  { env, root }: RunOptions,
  ended: PoolOptions['ended'],
): Promise<TestResults> {
  const results = new Map<string, FileResult>();
  await runPool(files, {
    ...how,
    env,
    root,
    ended: (file, result) => {
      results.set(file, result);
      ended(file, result);
    },
  });
  return results;
}

function describeFile(file: string, { failed, output, passed, skipped }: FileResult): string {
  const lines = [
    ...passed.map(name => `  ✔ ${name}`),
    ...skipped.map(name => `  - ${name}`),
    ...failed.map(name => `  ✖ ${name}`),
    ...(output === '' ? [] : [output.trimEnd()]),
  ];
  return [file, ...lines, ''].join('\n');
}
