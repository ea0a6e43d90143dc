import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { envoyBinary } from '#envoy/binary.ts';
import { testFiles } from './test-files.ts';
import { describeTestResult, parseTestResult } from './test-result.ts';
import { ensureTestTools, TOOLS } from './test-tools.ts';

/**
 * `npm test [folder or file …]`: makes the tools available that tests need, checks types and style (unless only some tests are asked
 * for), and runs the tests. With CI=true a skipped test is a failure.
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
  const { passed, skipped } = await runTests(files, Object.fromEntries(skips));
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

/** Whether all that ran passed, and how many were skipped. */
async function runTests(
  files: readonly string[],
  skips: NodeJS.ProcessEnv,
): Promise<{ passed: boolean; skipped: number }> {
  const tap = join(temporary, 'result.tap');
  const reporters = ['spec', 'stdout', 'tap', tap];
  const options = reporters.map(
    (value, at) => `--test-reporter${at % 2 === 0 ? '' : '-destination'}=${value}`,
  );
  const concurrency = `--test-concurrency=${Math.max(2, availableParallelism())}`;
  const PATH = [TOOLS, process.env.PATH].join(delimiter);
  const env = { ...process.env, ...skips, PATH, TMPDIR: temporary };
  say(`running ${files.length} test files ...`);
  const bounds = [
    `--test-timeout=${LONGEST_TEST_MS}`,
    '--import',
    join(ROOT, 'launcher', 'end-with-tests.ts'),
  ];
  const code = await run(process.execPath, ['--test', concurrency, ...bounds, ...options, ...files], env);
  const result = parseTestResult(readFileSync(tap, 'utf8'));
  process.stdout.write(describeTestResult(result));
  return { passed: code === 0, skipped: result.skipped.length };
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
