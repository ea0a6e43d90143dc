import { callsOf, inTurn } from './h2/calls.ts';
import { type Decider, startCheck, startOther, startRateLimit } from './h2/deciders.ts';
import { askAsFastAsPossible, askAtRate, type Load } from './h2/decision-load.ts';
import { circumstances, writePage } from './page.ts';
import { cpuMsOf, memoryOf } from './process-usage.ts';
import { quantile, toMs } from './quantile.ts';
import { buildReference, REFERENCE } from './ratelimit/reference.ts';
import { SERVERS } from './service-process.ts';
import { readRun, say } from './short-run.ts';
import { toTable } from './table.ts';

/**
 * Run `npx node bench/decision-tail.ts [seconds]`. It measures how long decisions take at the
 * service itself, over a few connections and over 1,000, at 70 % of its maximum over so many.
 * Prints tables and writes them to `bench/results/decision-tail.md`. Given a number of seconds for
 * each measurement it only prints. Needs Go (for the reference), redis-server and an idle machine.
 * A whole run takes about 6 minutes.
 */
const SECONDS = 10;
const WARM_UP_SECONDS = 2;
const SHARE = 0.7;
/** Connections, and calls at once on each, for the maximum of a service. */
const LOADS = [
  [4, 32],
  [1_000, 1],
] as const;

type Rows = ReadonlyMap<string, string>;
type Column = readonly [name: string, start: () => Promise<Decider>];

const RATE_LIMITS: readonly Column[] = [
  ['envoyproxy/ratelimit + Redis', () => startOther('envoyproxy/ratelimit + Redis')],
  ...SERVERS.map((server): Column => [`memory, ${server}`, () => startRateLimit(server)]),
  ['Redis, framed', () => startOther('ours + Redis')],
];
const CHECKS = SERVERS.map((server): Column => [server, () => startCheck(server)]);

const { isWhole, size: seconds } = readRun(SECONDS, 'seconds');
const begun = circumstances();
buildReference();
const tables = [
  await measureAll('a rate limit: one descriptor', RATE_LIMITS),
  await measureAll('check of a session', CHECKS),
].join('\n');
process.stdout.write(tables);
if (isWhole) writePage('decision-tail', page(tables));

async function measureAll(title: string, columns: readonly Column[]): Promise<string> {
  const measured = new Map<string, Rows>();
  for (const [name, start] of columns) {
    say(`${title}, ${name}`);
    const decider = await start();
    try {
      measured.set(name, await measure(decider));
    } finally {
      await decider.stop();
    }
  }
  return toTable(title, measured);
}

async function measure(decider: Decider): Promise<Rows> {
  const rows: (readonly [string, string])[] = [];
  for (const [connections, atOnce] of LOADS)
    rows.push(...(await measureOver(decider, connections, atOnce)));
  const { highest } = memoryOf(decider.service);
  return new Map([...rows, ['memory of the service at its highest, MiB', highest.toFixed(0)]]);
}

async function measureOver(decider: Decider, connections: number, atOnce: number) {
  const target = {
    port: decider.port,
    connections,
    calls: callsOf({ path: decider.path, next: inTurn(decider.messages) }),
  };
  const mostIn = async (forSeconds: number) => {
    const enough = (_: number, ms: number) => ms >= forSeconds * 1_000;
    const { ms, times } = await askAsFastAsPossible({ ...target, atOnce, enough });
    return times.length / (ms / 1_000);
  };
  await mostIn(WARM_UP_SECONDS);
  const most = await mostIn(seconds / 2);
  const before = cpuOf(decider);
  const load = await askAtRate({ ...target, perSecond: most * SHARE, seconds });
  const cpu = ((cpuOf(decider) - before) * 1_000) / Math.max(1, load.times.length);
  const over = `${connections.toLocaleString('en')} connections`;
  return [
    [`${over}: the most, decisions/s`, most.toFixed(0)],
    [`**${over}, 70 % of it: p50 / p99 / p99.9, ms**`, tail(load)],
    [`${over}, 70 % of it: CPU of service + store, µs a decision`, cpu.toFixed(1)],
  ] as const;
}

function cpuOf({ service, store }: Decider): number {
  return cpuMsOf(service) + (store === undefined ? 0 : cpuMsOf(store));
}

/** Adds how many calls failed, and why. */
function tail({ failures, times }: Load): string {
  const quantiles = times.length === 0 ? [] : [0.5, 0.99, 0.999].map(q => toMs(quantile(times, q)));
  const failed = [...failures].map(
    ([what, count]) => `, ${count} of ${times.length + count}: ${what}`,
  );
  return `${quantiles.join(' / ')}${failed.join('')}`;
}

function page(text: string): string {
  return `# How long a decision takes
${begun} gRPC straight to the service, without Envoy. The client writes frames made before (about a microsecond a call), on the other core.
The maximum is measured over 4 connections with 32 calls at a time, and 1,000 with one. Then calls come evenly at 70 % of that, whether earlier ones are answered or not. Each
is timed from when it was due. ${seconds} s each. grpc-js and framed (our own framing) are HTTP/2 implementations of the same methods of ours. ${REFERENCE}. Made by \`npx node bench/decision-tail.ts\`.
The client collects its garbage for up to 30 ms at a time where messages are long, as those of a check are. So times above 10 ms are partly its own.

${text}`;
}
