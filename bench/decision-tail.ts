import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { TOOLS } from '#launcher/test-tools.ts';
import { cpuMsOf, memoryOf } from './process-usage.ts';
import { quantile, toMs } from './quantile.ts';
import { askAsFastAsPossible, askAtRate, type Load } from './ratelimit/decision-load.ts';
import { type Kind, startDecisionService } from './ratelimit/decision-service.ts';
import { toTable } from './table.ts';

/**
 * `npx node bench/decision-tail.ts [seconds]`: how long rate limit decisions take at the service itself, at 70 % of the most that it does, and then over 1,000
 * connections. Prints a table and writes it to `bench/results/decision-tail.md`; given a number of seconds for each measurement it only prints. Wants
 * redis-server, the reference that `bench/ratelimit.ts` has built, and an idle machine.
 */
const KINDS: readonly Kind[] = ['envoyproxy/ratelimit + Redis', 'ours, in memory', 'ours + Redis'];
const SECONDS = 10;
const SHARE = 0.7;
const FEW = 4;
const MANY = 1_000;
const LIMITS = 100;
const RESULTS = join(import.meta.dirname, 'results', 'decision-tail.md');

const seconds = Number(process.argv[2] ?? SECONDS);
const columns = new Map<string, ReadonlyMap<string, string>>();
for (const kind of KINDS) {
  process.stderr.write(`${kind}\n`);
  columns.set(kind, await measure(kind));
}
const table = toTable('one descriptor, 100 limits', columns);
process.stdout.write(table);
if (process.argv[2] === undefined) writeFileSync(RESULTS, page(table));

async function measure(kind: Kind): Promise<ReadonlyMap<string, string>> {
  const service = await startDecisionService(kind, LIMITS, join(TOOLS, 'envoyproxy-ratelimit'));
  try {
    await mostOf(service.port, seconds / 2);
    const most = await mostOf(service.port, seconds);
    const rate = most * SHARE;
    const few = await askAtRate(service.port, FEW, rate, seconds);
    const before = cpuMsOf(service.service);
    const many = await askAtRate(service.port, MANY, rate, seconds);
    const cpu = ((cpuMsOf(service.service) - before) * 1_000) / (many.times.length + many.failed);
    return new Map([
      ['the most, decisions/s', most.toFixed(0)],
      [`at 70 % over ${FEW} connections: p50 / p99 / p99.9, ms`, tail(few)],
      [`**at 70 % over ${MANY.toLocaleString('en')} connections: p50 / p99 / p99.9, ms**`, tail(many)],
      [`CPU of the service over ${MANY.toLocaleString('en')} connections, µs a decision`, cpu.toFixed(1)],
      ['memory of the service at its highest, MiB', memoryOf(service.service).highest.toFixed(0)],
    ]);
  } finally {
    await service.stop();
  }
}

async function mostOf(port: number, forSeconds: number): Promise<number> {
  const end = performance.now() + forSeconds * 1_000;
  const load = await askAsFastAsPossible(port, FEW, 32, () => performance.now() > end);
  if (load.failed > 0) throw new Error(`${load.failed} decisions had no answer`);
  return load.times.length / (load.ms / 1_000);
}

function tail({ failed, times }: Load): string {
  if (failed > 0) throw new Error(`${failed} decisions had no answer`);
  return [0.5, 0.99, 0.999].map(q => toMs(quantile(times, q))).join(' / ');
}

function page(tableText: string): string {
  const date = new Date().toISOString().slice(0, 10);
  return `# How long a rate limit decision takes
${date}, ${availableParallelism()} cores, Node ${process.versions.node}. gRPC straight to the service, without Envoy: a client that writes frames made before (it costs about a microsecond a call), on the
other core. The most: ${FEW} connections with 32 calls at a time. Then calls come evenly at 70 % of that, whether earlier ones are answered or not, and each is timed from when
it was due. ${seconds} s each. Made by \`npx node bench/decision-tail.ts\`.

${tableText}`;
}
