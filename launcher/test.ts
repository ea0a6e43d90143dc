import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { envoyBinary } from '#envoy/binary.ts';
import { changedStyle } from './gears/changed-style.ts';
import { changedTests } from './gears/changed-tests.ts';
import { endPrograms } from './gears/end-programs.ts';
import { type Gear, HELP, parseGear } from './gears/gear.ts';
import { FEWER_CASES } from './gears/limits.ts';
import { processorMs } from './gears/processor-time.ts';
import { runTests } from './gears/run-tests.ts';
import { temporaryFolder } from './gears/temporary-folder.ts';
import { stopPool } from './gears/test-pool.ts';
import { makeEnvoyApi } from './make-envoy-api.ts';
import { isEndToEnd, testFiles } from './test-files.ts';
import { ensureTestTools, TOOLS } from './test-tools.ts';

/**
 * `npm test`: checks types and style and runs tests, in one of the gears of `gears/gear.ts`. With
 * CI=true a skipped test is a failure.
 */
const ROOT = join(import.meta.dirname, '..');
const BIN = join(ROOT, 'node_modules', '.bin');

/** One pass of the whole system through real Envoys. */
const SMOKE = 'envoy/e2e/smoke.test.ts';

/**
 * Programs in Go, such as tsc and API servers, collect garbage when they have so many percent more
 * of it than of what they need. They live for seconds, and their 100 take a fifth of their time.
 */
const GARBAGE = process.env.GOGC ?? '400';

const STYLE = ['check', '--error-on-warnings', '--diagnostic-level=warn'];

const say = (line: string) => process.stderr.write(`gateway: ${line}\n`);
const running = new Set<ChildProcess>();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => stop(signal));
process.on('disconnect', () => stop('SIGTERM'));

/**
 * Tests leave nothing behind outside this folder, and no program that has it for its own. Root's
 * PostgreSQL runs as another user and must get through.
 */
const temporary = mkdtempSync(join(temporaryFolder(), 'gw-'));
chmodSync(temporary, 0o755);
process.on('exit', () => {
  for (const child of running) child.kill();
  endPrograms(temporary);
  rmSync(temporary, { recursive: true, force: true });
});

try {
  process.exit((await main(parseGear(process.argv.slice(2)))) ? 0 : 1);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

async function main(gear: Gear): Promise<boolean> {
  if (gear.kind === 'help') return process.stdout.write(HELP);
  const files = filesOf(gear);
  const named = gear.kind === 'named';
  const types = named || checkTypes('types', '.');
  const browser = named || checkTypes("the browser's types", 'controlplane/console/browser');
  const style = named || checkStyle(gear);
  const skips = await prepare(gear, files);
  say(`running ${files.length} test files ...`);
  const env = {
    ...process.env,
    ...skips,
    PATH: [TOOLS, process.env.PATH].join(delimiter),
    GOGC: GARBAGE,
    TMPDIR: temporary,
    ...(gear.kind === 'quick' ? { [FEWER_CASES]: '1' } : {}),
  };
  const { passed, skipped } = await runTests(files, {
    root: ROOT,
    env,
    retry: !named,
    verbose: named,
    say,
  });
  for (const reason of Object.values(skips)) say(`tests were skipped: ${reason}`);
  const [server, inBrowser, styled] = await Promise.all([types, browser, style]);
  say(`took ${minutes(performance.now())}, and ${minutes(processorMs())} of processor time`);
  const typed = server && inBrowser;
  if (!typed) say('the types are wrong, see above');
  if (!styled) say('the style is wrong, see above');
  const mayNotSkip = process.env.CI === 'true' && skipped > 0;
  if (mayNotSkip) say('with CI=true no test may be skipped, see above');
  return typed && styled && passed && !mayNotSkip;
}

function minutes(ms: number): string {
  return `${(ms / 60_000).toFixed(1)} min`;
}

function filesOf(gear: Gear): readonly string[] {
  if (gear.kind === 'named') return testFiles(ROOT, gear.names);
  const all = testFiles(ROOT, []);
  if (gear.kind === 'changed') return changedTests(ROOT, all, gear.base);
  return gear.kind === 'all' ? all : [...all.filter(file => !isEndToEnd(file)), SMOKE];
}

/**
 * Makes available what the tests need. Returns why tests must be skipped, by the variable that
 * skips them.
 */
async function prepare(
  { kind }: Gear,
  files: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  await makeEnvoyApi(say);
  if (!files.some(isEndToEnd)) return {};
  await envoyBinary({ say });
  if (kind === 'quick') return {};
  const missing = ensureTestTools(say);
  return Object.fromEntries([...missing].map(([name, reason]) => [`GATEWAY_SKIP_${name}`, reason]));
}

/**
 * The next run checks only what has changed since, and what depends on it. Several checkers would
 * each check what they share, and the tests have the other cores.
 */
function checkTypes(what: string, project: string): Promise<boolean> {
  const known = join(ROOT, '.gateway', 'types', `${basename(join(ROOT, project))}.tsbuildinfo`);
  const incremental = ['--incremental', '--tsBuildInfoFile', known];
  return check(what, 'tsc', ['-p', project, '--checkers', '1', ...incremental]);
}

/**
 * The next run checks only files that have changed since, which takes a third of the time. The
 * whole gear checks all of them.
 */
async function checkStyle({ kind }: Gear): Promise<boolean> {
  const { files, passed } = changedStyle(ROOT, join(ROOT, '.gateway', 'types', 'style.json'));
  const some = kind === 'all' ? undefined : files;
  if (some?.length === 0) return true;
  const named = some === undefined ? [] : ['--no-errors-on-unmatched', ...some];
  const styled = await check('style', 'biome', [...STYLE, ...named]);
  if (styled) passed();
  return styled;
}

/** Runs beside the tests, which often wait. Prints its output in one piece when it fails. */
async function check(what: string, command: string, args: readonly string[]): Promise<boolean> {
  say(`checking ${what} (${command}) ...`);
  const { code, output } = await run(join(BIN, command), args);
  if (code !== 0) process.stdout.write(output);
  return code === 0;
}

function run(
  file: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise(resolve => {
    const child = spawn(file, args, {
      cwd: ROOT,
      env: { ...process.env, GOGC: GARBAGE },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.on('error', error => resolve({ code: 1, output: `${file}: ${error.message}\n` }));
    child.on('close', code => {
      running.delete(child);
      resolve({ code: code ?? 1, output });
    });
  });
}

function stop(signal: NodeJS.Signals): void {
  stopPool(signal);
  process.exit(1);
}
