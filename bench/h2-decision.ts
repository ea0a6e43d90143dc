/**
 * Run `npx node bench/h2-decision.ts [rounds] [calls]`. It measures what a decision costs on
 * grpc-js and on our own framing. The decisions are a rate limit with its counter in memory, and
 * the check of a user who is logged in.
 *
 * The two take turns, so that other load on the machine disturbs both alike. One client calls them
 * with frames made before. The results are medians of CPU time. Then it measures the rate limit
 * through an Envoy (needs Debian's wrk). Prints tables and writes them to
 * `bench/results/h2-decision.md`. Given a number of rounds it only prints. A whole run takes about
 * 8 minutes.
 */
import { callsOf, inTurn } from './h2/calls.ts';
import { type Decider, startCheck, startRateLimit } from './h2/deciders.ts';
import { askAsFastAsPossible } from './h2/decision-load.ts';
import { circumstances, writePage } from './page.ts';
import { cpuMsOf } from './process-usage.ts';
import { quantile } from './quantile.ts';
import { startEdge } from './ratelimit/edge.ts';
import { SERVERS, type Server } from './service-process.ts';
import { toTable } from './table.ts';
import { runWrk } from './wrk.ts';

/** Connections, and calls at once on each. */
const LOADS = [
  [4, 64],
  [4, 8],
  [1, 16],
] as const;

/** Seconds of wrk for each measurement. */
const SECONDS = 6;

const [rounds = 5, calls = 20_000] = process.argv.slice(2).map(Number);
const begun = circumstances();
const columns = new Map<string, ReadonlyMap<string, string>>();
columns.set('rate limit, in memory', await measure(server => startRateLimit(server)));
columns.set('check of a session', await measure(server => startCheck(server)));
const direct = toTable('CPU of a decision, µs', columns);
process.stdout.write(direct);
const tables = `${direct}\n${toTable('rate limit through one Envoy', await measureThroughEnvoy())}`;
process.stdout.write(tables.slice(direct.length));
if (process.argv[2] === undefined) writePage('h2-decision', page(tables));

async function measure(
  start: (server: Server) => Promise<Decider>,
): Promise<ReadonlyMap<string, string>> {
  const running = await Promise.all(SERVERS.map(start));
  const rows = new Map<string, string>();
  for (const isTraced of [false, true])
    for (const [connections, atOnce] of LOADS) {
      const costs = running.map((): number[] => []);
      for (let round = 0; round <= rounds; round++)
        for (const [n, service] of running.entries())
          costs[n]?.push(await costOf(service, isTraced, connections, atOnce));
      const medians = costs.map(of => quantile(of.slice(1), 0.5));
      const title = `${connections} × ${atOnce}${isTraced ? ', traced' : ''}`;
      rows.set(
        `${title}: ${SERVERS.join(' / ')}`,
        medians.map(median => median.toFixed(1)).join(' / '),
      );
      const base = medians[0] ?? 0;
      rows.set(
        `${title}: × grpc-js`,
        medians.map(median => (median / base).toFixed(2)).join(' / '),
      );
    }
  await Promise.all(running.map(({ stop }) => stop()));
  return rows;
}

/** Measures wrk → Envoy with one worker → service. The services take turns with Envoy alone. */
async function measureThroughEnvoy(): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const results = new Map<string, ReadonlyMap<string, string>>();
  for (const server of [undefined, ...SERVERS]) {
    const service = server === undefined ? undefined : await startRateLimit(server);
    const { envoy, port } = await startEdge(service?.port, 1, 1);
    const url = `http://127.0.0.1:${port}/`;
    await runWrk(url, SECONDS / 2);
    const before = service === undefined ? 0 : cpuMsOf(service.service);
    const { requests, perSecond, p50, p99, failed } = await runWrk(url, SECONDS);
    if (failed > 0) throw new Error(`${failed} requests were not let through`);
    const cpu = service === undefined ? 0 : (cpuMsOf(service.service) - before) * 1_000;
    results.set(
      server ?? 'Envoy alone',
      new Map([
        ['requests/s', perSecond.toFixed(0)],
        ['p50 / p99, ms', `${p50.toFixed(1)} / ${p99.toFixed(1)}`],
        ['CPU of the service, µs a request', (cpu / requests).toFixed(1)],
      ]),
    );
    await envoy.stop();
    await service?.stop();
  }
  return results;
}

async function costOf(
  { messages, path, port, service }: Decider,
  isTraced: boolean,
  connections: number,
  atOnce: number,
): Promise<number> {
  const asked = callsOf({ path, next: inTurn(messages), isTraced });
  const begun = cpuMsOf(service);
  await askAsFastAsPossible({ port, connections, atOnce, calls: asked, enough: n => n >= calls });
  return ((cpuMsOf(service) - begun) * 1_000) / calls;
}

function page(tables: string): string {
  return `# What a decision costs on grpc-js and on our own framing
${begun} CPU time of the service, medians of ${rounds} rounds of ${calls.toLocaleString('en')} calls, the two in turn. One client calls them with frames made before,
with headers indexed as Envoy sends them. \`4 × 64\` is connections, and calls at once on each. \`traced\` has a header that differs in each call. The methods and
their codecs are the same on both. Made by \`npx node bench/h2-decision.ts\`.

${tables}
The goal is at most 0.25 of grpc-js for a rate limit, and 0.35 for a check.
`;
}
