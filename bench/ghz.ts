import { type Decider, startLimitador, startOther, startRateLimit } from './h2/deciders.ts';
import type { Load } from './load.ts';
import { idleShare, readCpuTimes } from './machine-usage.ts';
import { circumstances, writePage } from './page.ts';
import { cpuMsOf } from './process-usage.ts';
import { quantile, toMs } from './quantile.ts';
import { buildLimitador } from './ratelimit/limitador.ts';
import { buildReference, REFERENCE } from './ratelimit/reference.ts';
import { CALLERS, CONNECTIONS, runGhz } from './run-ghz.ts';
import { SERVERS } from './service-process.ts';
import { readRun, say } from './short-run.ts';
import { toTable } from './table.ts';

/**
 * Run `npx node bench/ghz.ts [calls]`. It measures what a rate limit decision costs when ghz asks
 * for it, ours on each transport beside envoyproxy/ratelimit. All take turns, so that other load on
 * the machine disturbs all alike. The results are medians. Prints a table and writes it to
 * `bench/results/ghz.md`. Given a number of calls it only prints. Needs Go (for the reference), ghz
 * (`npm test` builds it), redis-server and, for Limitador, Rust. A whole run takes about 3 minutes.
 */
const CALLS = 50_000;
const ROUNDS = 5;

type Column = readonly [name: string, start: () => Promise<Decider>];
type Measured = Load & { readonly cpu: number; readonly storeCpu: number; readonly idle: number };

const REFERENCE_NAME = 'envoyproxy/ratelimit + Redis';
const COLUMNS: readonly Column[] = [
  [REFERENCE_NAME, () => startOther(REFERENCE_NAME)],
  ...SERVERS.map((server): Column => [`memory, ${server}`, () => startRateLimit(server)]),
  ['Redis, framed', () => startOther('ours + Redis')],
];
const LIMITADOR: Column = ['Limitador, memory', startLimitador];

const { isWhole, size: calls } = readRun(CALLS, 'calls');
const begun = circumstances();
buildReference();
const noLimitador = buildLimitador();
if (noLimitador !== '') say(`without Limitador: ${noLimitador}`);
const columns = noLimitador === '' ? [...COLUMNS, LIMITADOR] : COLUMNS;
const started: (readonly [string, Decider])[] = [];
try {
  for (const [name, start] of columns) started.push([name, await start()]);
  const table = tableOf(await measureAll());
  process.stdout.write(table);
  if (isWhole) writePage('ghz', page(table));
} finally {
  for (const [, decider] of started) await decider.stop();
}

/** The first round warms up. */
async function measureAll(): Promise<ReadonlyMap<string, readonly Measured[]>> {
  const measured = new Map(started.map(([name]): [string, Measured[]] => [name, []]));
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, decider] of started) {
      say(`round ${round} of ${ROUNDS}: ${name}`);
      const of = await measure(decider);
      if (round > 0) measured.get(name)?.push(of);
    }
  return measured;
}

async function measure({ port, service, store }: Decider): Promise<Measured> {
  const processes = [service, ...(store === undefined ? [] : [store])];
  const [before, machine] = [processes.map(cpuMsOf), readCpuTimes()];
  const load = await runGhz(port, calls);
  if (load.failed > 0) throw new Error(`${load.failed} decisions had no answer`);
  const [cpu = 0, storeCpu = 0] = processes.map(
    (pid, n) => ((cpuMsOf(pid) - (before[n] ?? 0)) * 1_000) / calls,
  );
  return { ...load, cpu, storeCpu, idle: idleShare(machine, readCpuTimes()) };
}

function tableOf(all: ReadonlyMap<string, readonly Measured[]>): string {
  const median = (name: string, of: (measured: Measured) => number) =>
    quantile((all.get(name) ?? []).map(of), 0.5);
  const whole = (name: string) => median(name, ({ cpu, storeCpu }) => cpu + storeCpu);
  const column = (name: string): ReadonlyMap<string, string> =>
    new Map([
      [
        'CPU of service + store, µs a decision',
        `${median(name, ({ cpu }) => cpu).toFixed(1)} + ${median(name, ({ storeCpu }) => storeCpu).toFixed(1)}`,
      ],
      ['**× grpc-js**', `**${(whole(name) / whole('memory, grpc-js')).toFixed(2)}**`],
      [
        '**× envoyproxy/ratelimit + Redis**',
        `**${(whole(name) / whole(REFERENCE_NAME)).toFixed(2)}**`,
      ],
      ['decisions/s', median(name, ({ perSecond }) => perSecond).toFixed(0)],
      [
        'p50 / p99, ms',
        `${toMs(median(name, ({ p50 }) => p50))} / ${toMs(median(name, ({ p99 }) => p99))}`,
      ],
      ['cores idle meanwhile', `${(100 * median(name, ({ idle }) => idle)).toFixed(0)} %`],
    ]);
  return toTable('one descriptor', new Map([...all.keys()].map(name => [name, column(name)])));
}

function page(table: string): string {
  return `# What a rate limit decision costs when ghz asks for it
${begun} ghz with ${CALLERS} callers over ${CONNECTIONS} connections, which takes most of a core itself, one descriptor of two labels and 1 to 100 limits. Medians of ${ROUNDS} rounds of
${calls.toLocaleString('en')} calls, in which all take turns. grpc-js and framed (our own framing) are HTTP/2 implementations of the same methods of ours. CPU is user and system time of the process. ${REFERENCE}.
Made by \`npx node bench/ghz.ts\`.

${table}
The goals are at most 0.25 of grpc-js, and with Redis 0.4 of envoyproxy/ratelimit. Measured so elsewhere, in µs: envoyproxy/ratelimit 75 and its
Redis, grpc-js with a Map 48–71, Limitador (Rust, in memory) 24. Limitador's server is in no registry of packages, so this one is its library 0.14.0 behind a tonic server of ours.
`;
}
