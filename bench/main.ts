import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BENCHES, type Bench } from './benches.ts';
import { machine } from './machine.ts';
import { isMissing } from './run-tool.ts';
import { comparisons, measuredPages, summaryPage } from './summary.ts';
import { toSvg } from './summary-picture.ts';

const HELP = `Usage: npm run bench -- [options] [name ...]

Runs benchmarks one after the other, and writes bench/results/README.md from all results there are.
Nothing else should run on the machine meanwhile.

Options:
  --all    run every benchmark, which takes about 70 minutes
  --list   list the benchmarks
  --page   run none, write only the page
  --help   show this
`;

/** Programs that some benchmarks run, by where they come from. */
const PROGRAMS = new Map([
  ['wrk', 'Debian\'s package "wrk"'],
  ['h2load', 'Debian\'s package "nghttp2-client"'],
  ['redis-server', 'Debian\'s package "redis-server"'],
  ['go', 'https://go.dev/dl/'],
]);

const RESULTS = join(import.meta.dirname, 'results');
const ENDING = ['SIGINT', 'SIGTERM'] as const;
/** The README and the site of the documents show it. */
const PICTURE = join(import.meta.dirname, '..', 'docs', 'benchmarks.svg');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean' },
    list: { type: 'boolean' },
    page: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
process.exitCode = await main();

async function main(): Promise<number> {
  if (values.help) return print(HELP);
  if (values.list) return print(BENCHES.map(({ name }) => `${name}\n`).join(''));
  const unknown = positionals.filter(name => !BENCHES.some(bench => bench.name === name));
  if (unknown.length > 0) {
    process.stderr.write(`There is no benchmark ${unknown.join(', ')}. --list lists them.\n`);
    return 2;
  }
  const chosen = values.all ? BENCHES : BENCHES.filter(({ name }) => positionals.includes(name));
  if (chosen.length === 0 && !values.page) return print(HELP);
  const missing = values.all ? missingPrograms() : [];
  if (missing.length > 0) {
    process.stderr.write(`Nothing was measured. Install ${missing.join(', ')}.\n`);
    return 2;
  }
  const failed = await runAll(chosen);
  writeSummary();
  if (failed.length > 0) process.stderr.write(`Failed: ${failed.join(', ')}\n`);
  return failed.length > 0 ? 1 : 0;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** An hour must not pass before the first one that needs them fails. */
function missingPrograms(): readonly string[] {
  return [...PROGRAMS]
    .filter(([name]) => isMissing(spawnSync(name, ['--version'], { stdio: 'ignore' }).error))
    .map(([name, from]) => `${name} (${from})`);
}

/** Returns the names of those that failed. The others go on. */
async function runAll(benches: readonly Bench[]): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const [at, bench] of benches.entries()) {
    process.stderr.write(`${at + 1} of ${benches.length}: ${bench.name} ...\n`);
    const begun = performance.now();
    if (!(await run(bench))) failed.push(bench.name);
    const seconds = Math.round((performance.now() - begun) / 1_000);
    process.stderr.write(`${bench.name} took ${seconds} s\n`);
  }
  return failed;
}

async function run({ args, name }: Bench): Promise<boolean> {
  const file = join(import.meta.dirname, `${name}.ts`);
  const child = spawn(process.execPath, [file, ...args], { stdio: 'inherit' });
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    process.exit(1);
  };
  for (const signal of ENDING) process.once(signal, end);
  const [code] = await once(child, 'exit');
  for (const signal of ENDING) process.off(signal, end);
  return code === 0;
}

function writeSummary(): void {
  const read = (name: string) => {
    const file = join(RESULTS, `${name}.md`);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const pages = measuredPages(read);
  writeFileSync(join(RESULTS, 'README.md'), summaryPage(pages, machine()));
  writeFileSync(PICTURE, toSvg(comparisons(pages)));
  process.stderr.write('wrote bench/results/README.md\n');
}
