import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';
import { idleShare, readCpuTimes } from './machine-usage.ts';
import { circumstances, writePage } from './page.ts';
import { cpuMsOf } from './process-usage.ts';
import { type Kind, startDecisionService } from './ratelimit/decision-service.ts';
import { startEdge } from './ratelimit/edge.ts';
import { buildReference, REFERENCE } from './ratelimit/reference.ts';
import type { DecisionService } from './service-process.ts';
import { readRun, say } from './short-run.ts';
import { toTable } from './table.ts';
import { runWrk } from './wrk.ts';

/**
 * Run `npx node bench/ratelimit.ts [seconds]`. It measures what a rate limit decision costs, ours
 * beside envoyproxy/ratelimit. Both have the same limits and descriptors, through the same Envoy,
 * one after the other in one run. Prints tables and writes them to `bench/results/ratelimit.md`.
 * Needs Go (the reference is built from its module), Debian's wrk and redis-server, and an idle
 * machine. Given a number of seconds for each measurement it only prints. A whole run takes about 6
 * minutes.
 */
const KINDS: readonly Kind[] = ['envoyproxy/ratelimit + Redis', 'ours, in memory', 'ours + Redis'];
const DESCRIPTORS = [1, 3, 10];
const LIMITS = [1, 100, 10_000];
const SECONDS = 6;
const WARM_UP_SECONDS = 2;

type Measured = {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** CPU time per request, in µs. */
  readonly service: number;
  readonly store: number;
  readonly envoy: number;
  /** The share of all cores' time in which they were idle. */
  readonly idle: number;
};

const { isWhole, size: seconds } = readRun(SECONDS, 'seconds');
const begun = circumstances();
buildReference();

const tables: string[] = [];
for (const limits of LIMITS) {
  for (const descriptors of DESCRIPTORS) {
    const columns = new Map<string, ReadonlyMap<string, string>>();
    let base: Measured | undefined;
    for (const kind of KINDS) {
      say(`${kind}: ${descriptors} descriptors, ${limits} limits`);
      const measured = await measure(kind, descriptors, limits);
      base ??= measured;
      columns.set(kind, toColumn(measured, base));
    }
    const title = `${descriptors} ${descriptors === 1 ? 'descriptor' : 'descriptors'}, ${limits.toLocaleString('en')} ${limits === 1 ? 'limit' : 'limits'}`;
    tables.push(toTable(title, columns));
  }
}
const alone = await measureEnvoyAlone();
const text = `${tables.join('\n')}\nEnvoy alone, without the service: ${alone.perSecond.toFixed(0)} requests/s, ${alone.envoy.toFixed(0)} µs of CPU a request.\n`;
process.stdout.write(text);
if (isWhole) writePage('ratelimit', page(text));

async function measure(kind: Kind, descriptors: number, limits: number): Promise<Measured> {
  const service = await startDecisionService(kind, limits);
  try {
    return await measureWith(service, descriptors, limits);
  } finally {
    await service.stop();
  }
}

function measureEnvoyAlone(): Promise<Measured> {
  return measureWith(undefined, 1, 1);
}

async function measureWith(
  service: DecisionService | undefined,
  descriptors: number,
  limits: number,
): Promise<Measured> {
  const { envoy, port } = await startEdge(service?.port, descriptors, limits);
  try {
    const url = `http://127.0.0.1:${port}/`;
    await runWrk(url, WARM_UP_SECONDS);
    const processes = [service?.service, service?.store, envoy.pid];
    const [before, machine] = [processes.map(cpuOf), readCpuTimes()];
    const load = await runWrk(url, seconds);
    const idle = idleShare(machine, readCpuTimes());
    if (load.failed > 0) throw new Error(`${load.failed} of ${load.requests} requests failed`);
    const [ofService = 0, ofStore = 0, ofEnvoy = 0] = processes.map(
      (pid, at) => ((cpuOf(pid) - (before[at] ?? 0)) * 1000) / load.requests,
    );
    const { perSecond, p50, p99 } = load;
    return { perSecond, p50, p99, idle, service: ofService, store: ofStore, envoy: ofEnvoy };
  } finally {
    await envoy.stop();
  }
}

function cpuOf(pid: number | undefined): number {
  return pid === undefined ? 0 : cpuMsOf(pid);
}

function toColumn(measured: Measured, base: Measured): ReadonlyMap<string, string> {
  const { envoy, idle, p50, p99, perSecond, service, store } = measured;
  return new Map([
    ['CPU of service + store, µs a request', `${service.toFixed(1)} + ${store.toFixed(1)}`],
    [
      '**as part of the reference** (goal: in memory ≤ 0.5, with Redis ≤ 0.4)',
      `**${((service + store) / (base.service + base.store)).toFixed(2)}**`,
    ],
    ['CPU of Envoy, µs a request', envoy.toFixed(0)],
    ['requests/s', perSecond.toFixed(0)],
    ['p50 / p99, ms', `${p50.toFixed(1)} / ${p99.toFixed(1)}`],
    ['cores idle meanwhile', `${(100 * idle).toFixed(0)} %`],
  ]);
}

function page(tables: string): string {
  return `# What a rate limit decision costs
${begun} Envoy ${ENVOY_VERSION} with one worker, ${REFERENCE}. wrk with 64 connections → Envoy → service, which lets every request pass. The
upstream is a listener of the same Envoy. Ours speaks HTTP/2 by its own framing, as it does by default. Each descriptor has two labels, meets one limit and has a counter
of its own. ${seconds} s each after ${WARM_UP_SECONDS} s of warming up. CPU is user and system time of the process. Made by \`npx node bench/ratelimit.ts\`.

${tables}
The goal is at most 0.4 of the reference's CPU with Redis, 0.5 in memory, and flat from 1 to 10,000 limits.
`;
}
