/**
 * `npx node bench/h2-decision.ts [rounds] [calls]`: what a decision costs on grpc-js, on Node's HTTP/2 streams and on our own framing: a rate limit with its counter
 * in memory, and the check of a user who is logged in. The three take turns, called by one client that writes frames made before, so that others who use the
 * machine disturb all alike; medians of CPU time. Then the rate limit through an Envoy (wants Debian's wrk). Prints tables.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteRecordStore } from '#ext-authz/store/sqlite-record-store.ts';
import { startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { type Asked, callsOf, rateLimitMessage } from './h2/calls.ts';
import { checkRequest } from './oauth2/check-request.ts';
import { logInAll } from './oauth2/login.ts';
import { startServiceProcess } from './oauth2/service-process.ts';
import { pageOf, siteYaml } from './oauth2/site.ts';
import { cpuMsOf } from './process-usage.ts';
import { quantile } from './quantile.ts';
import { askAsFastAsPossible } from './ratelimit/decision-load.ts';
import { startEdge } from './ratelimit/edge.ts';
import { toTable } from './table.ts';
import { runWrk } from './wrk.ts';

const SERVERS = ['grpc-js', 'node', 'own'] as const;
const MAIN = join(import.meta.dirname, 'h2', 'decision-process.ts');
const RATE_LIMIT = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
const CHECK = '/envoy.service.auth.v3.Authorization/Check';
/** Connections, and calls at once on each. */
const LOADS = [
  [4, 64],
  [4, 8],
  [1, 16],
] as const;

/** Of wrk, for each measurement. */
const SECONDS = 6;

type Running = {
  readonly pid: number;
  readonly port: number;
  readonly messages: readonly Uint8Array[];
  stop(): Promise<void>;
};

const [rounds = 5, calls = 20_000] = process.argv.slice(2).map(Number);
const columns = new Map<string, ReadonlyMap<string, string>>();
columns.set('rate limit, in memory', await measure(RATE_LIMIT, startRateLimit));
const provider = await startHostileProvider();
columns.set('check of a session', await measure(CHECK, startCheck));
await provider.close();
process.stdout.write(toTable('CPU of a decision, µs', columns));
process.stdout.write(`\n${toTable('rate limit through one Envoy', await measureThroughEnvoy())}`);

async function measure(
  path: string,
  start: (server: string) => Promise<Running>,
): Promise<ReadonlyMap<string, string>> {
  const running = await Promise.all(SERVERS.map(start));
  const rows = new Map<string, string>();
  for (const isTraced of [false, true])
    for (const [connections, atOnce] of LOADS) {
      const costs = running.map((): number[] => []);
      for (let round = 0; round <= rounds; round++)
        for (const [n, service] of running.entries())
          costs[n]?.push(
            await costOf(service, { path, messages: service.messages, isTraced }, connections, atOnce),
          );
      const medians = costs.map(of => quantile(of.slice(1), 0.5));
      const title = `${connections} × ${atOnce}${isTraced ? ', traced' : ''}`;
      rows.set(`${title}: ${SERVERS.join(' / ')}`, medians.map(median => median.toFixed(1)).join(' / '));
      const base = medians[0] ?? 0;
      rows.set(`${title}: × grpc-js`, medians.map(median => (median / base).toFixed(2)).join(' / '));
    }
  await Promise.all(running.map(({ stop }) => stop()));
  return rows;
}

/** wrk → Envoy with one worker → service; the services in turn, and Envoy alone. */
async function measureThroughEnvoy(): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const results = new Map<string, ReadonlyMap<string, string>>();
  for (const server of [undefined, ...SERVERS]) {
    const service = server === undefined ? undefined : await startRateLimit(server);
    const { envoy, port } = await startEdge(service?.port, 1, 1);
    const url = `http://127.0.0.1:${port}/`;
    await runWrk(url, SECONDS / 2);
    const before = service === undefined ? 0 : cpuMsOf(service.pid);
    const { requests, perSecond, p50, p99, failed } = await runWrk(url, SECONDS);
    if (failed > 0) throw new Error(`${failed} requests were not let through`);
    const cpu = service === undefined ? 0 : (cpuMsOf(service.pid) - before) * 1_000;
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

async function costOf(service: Running, asked: Asked, connections: number, atOnce: number): Promise<number> {
  const begun = cpuMsOf(service.pid);
  const { failed } = await askAsFastAsPossible(
    service.port,
    connections,
    atOnce,
    n => n >= calls,
    callsOf(asked),
  );
  if (failed > 0) throw new Error(`${failed} decisions had no answer`);
  return ((cpuMsOf(service.pid) - begun) * 1_000) / calls;
}

async function startRateLimit(server: string): Promise<Running> {
  return { ...(await startServiceProcess([MAIN, server, 'ratelimit'])), messages: [rateLimitMessage()] };
}

async function startCheck(server: string): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-h2-'));
  const [sessions, resources] = [join(folder, 'sessions.sqlite'), join(folder, 'site.yaml')];
  writeFileSync(resources, siteYaml(provider.issuer, 1));
  const { pid, port, stop } = await startServiceProcess([MAIN, server, 'check', sessions, resources]);
  const store = await openSqliteRecordStore(sessions, { now: Date.now, uptime: () => performance.now() });
  const cookies = await logInAll(store, provider, 1);
  const stopAll = async () => {
    await store.close();
    await stop();
    rmSync(folder, { recursive: true });
  };
  return { pid, port, messages: cookies.map(cookie => checkRequest(pageOf(1), cookie)), stop: stopAll };
}
