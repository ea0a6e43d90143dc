import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { envoyBinary } from '#envoy/binary.ts';
import { testFiles } from './test-files.ts';
import {
  describeTestResults,
  failedFiles,
  parseTestResults,
  type Retried,
  skippedTests,
  type TestResults,
  withRetries,
} from './test-result.ts';
import { ensureTestTools, TOOLS } from './test-tools.ts';

/**
 * `npm test [folder or file …]`: makes the tools available that tests need, checks types and style (unless only some tests are asked
 * for), and runs the tests. In a whole run a file that fails is run once more, alone, and named as
 * flaky if it then passes. With CI=true a skipped test is a failure.
 */
const ROOT = join(import.meta.dirname, '..');
const BIN = join(ROOT, 'node_modules', '.bin');

/** On a busy machine too: what takes longer waits for something that does not come. */
const LONGEST_TEST_MS = 300_000;

const say = (line: string) => process.stderr.write(`gateway: ${line}\n`);
let running: ChildProcess | undefined;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
process.on('disconnect', () => stop('SIGTERM'));

/** Tests leave nothing behind outside this folder. Root's PostgreSQL runs as another user and must get through. */
const temporary = mkdtempSync(join(tmpdir(), 'gw-'));
chmodSync(temporary, 0o755);
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }));

try {
  process.exit((await main(process.argv.slice(2))) ? 0 : 1);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

async function main(args: readonly string[]): Promise<boolean> {
  const files = testFiles(ROOT, args);
  await envoyBinary({ say });
  const skips = [...ensureTestTools(say)].map(([name, reason]) => [`GATEWAY_SKIP_${name}`, reason]);
  const whole = args.length === 0;
  const types = !whole || (await check('types', 'tsc', []));
  const style =
    !whole || (await check('style', 'biome', ['check', '--error-on-warnings', '--diagnostic-level=warn']));
  const { passed, skipped } = await runTests(files, { skips: Object.fromEntries(skips), whole });
  for (const [, reason] of skips) say(`tests were skipped: ${reason}`);
  if (!types) say('the types are wrong, see above');
  if (!style) say('the style is wrong, see above');
  const mayNotSkip = process.env.CI === 'true' && skipped > 0;
  if (mayNotSkip) say('with CI=true no test may be skipped, see above');
  return types && style && passed && !mayNotSkip;
}

async function check(what: string, command: string, args: readonly string[]): Promise<boolean> {
  say(`checking ${what} (${command}) ...`);
  return (await run(join(BIN, command), args, process.env)) === 0;
}

/**
 * Runs the files, and of a whole run those that failed once more: alone, when everything else has
 * ended. Prints the closing lines.
 */
async function runTests(
  files: readonly string[],
  { skips, whole }: { readonly skips: NodeJS.ProcessEnv; readonly whole: boolean },
): Promise<{ passed: boolean; skipped: number }> {
  const env = {
    ...process.env,
    ...skips,
    PATH: [TOOLS, process.env.PATH].join(delimiter),
    TMPDIR: temporary,
  };
  say(`running ${files.length} test files ...`);
  const first = await runFiles(files, Math.max(2, availableParallelism()), env);
  const retried: Retried[] = [];
  for (const file of whole ? failedFiles(first.results) : []) {
    say(`${file} failed: running it once more, alone ...`);
    const again = await runFiles([file], 1, env);
    const second = again.results.get(file);
    if (second === undefined) throw new Error(`${file} told nothing when it ran alone`);
    retried.push({ file, first: first.results.get(file) ?? second, second });
  }
  const results = withRetries(first.results, retried);
  process.stdout.write(describeTestResults(results, retried));
  // A run that failed without a file to blame is not saved by anything.
  const excused = first.passed || retried.length > 0;
  return { passed: excused && failedFiles(results).length === 0, skipped: skippedTests(results).length };
}

async function runFiles(
  files: readonly string[],
  concurrency: number,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly passed: boolean; readonly results: TestResults }> {
  const events = join(mkdtempSync(join(temporary, 'run-')), 'events.jsonl');
  const args = [
    '--test',
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${LONGEST_TEST_MS}`,
    ...['--import', join(ROOT, 'launcher', 'end-with-tests.ts')],
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...[
      `--test-reporter=${join(ROOT, 'launcher', 'file-events.ts')}`,
      `--test-reporter-destination=${events}`,
    ],
    ...files,
  ];
  const passed = (await run(process.execPath, args, env)) === 0;
  return { passed, results: parseTestResults(ROOT, readFileSync(events, 'utf8')) };
}

function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    running = spawn(file, args, { cwd: ROOT, env, stdio: 'inherit' });
    running.on('error', reject);
    running.on('exit', code => resolve(code ?? 1));
  });
}

function stop(signal: NodeJS.Signals): void {
  running?.kill(signal);
  process.exit(1);
}
