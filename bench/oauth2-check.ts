/**
 * Run `npx node bench/oauth2-check.ts [rounds]`. It measures what the check of a user who is logged
 * in costs without Envoy. It does so in this process, from the bytes of a request to those of the
 * answer, and in a process of its own that is called over HTTP/2. Beside it is a service that
 * allows everything. The two take turns, so that other load on the machine disturbs both alike. The
 * results are medians. Prints a table.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteRecordStore } from '#ext-authz/store/sqlite-record-store.ts';
import { type DirectChecks, openDirectChecks } from '#ext-authz/testing/direct-checks.ts';
import { startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { checkRequest } from './oauth2/check-request.ts';
import { startConstant, startOurs } from './oauth2/check-service.ts';
import { configurationOf } from './oauth2/configuration.ts';
import { measureDirectChecks } from './oauth2/direct-checks.ts';
import { logInAll } from './oauth2/login.ts';
import { pageOf, siteYaml } from './oauth2/site.ts';
import { quantile } from './quantile.ts';
import { toTable } from './table.ts';

const CASES = [
  [1, 1],
  [1, 1_000],
  [10_000, 1],
] as const;
const CHECKS = 20_000;
const rounds = Number(process.argv[2] ?? 7);

const provider = await startHostileProvider();
const columns = new Map<string, ReadonlyMap<string, string>>();
for (const [sessions, policies] of CASES)
  columns.set(`sessions ${sessions}, policies ${policies}`, await measure(sessions, policies));
process.stdout.write(toTable('one check', columns));
await provider.close();

async function measure(sessions: number, policies: number): Promise<ReadonlyMap<string, string>> {
  const yaml = siteYaml(provider.issuer, policies);
  const inProcess = await measureInProcess(yaml, sessions, policies);
  const called = await measureCalled(yaml, sessions, policies);
  return new Map([...inProcess, ...called].map(([name, value]) => [name, value.toFixed(1)]));
}

async function measureInProcess(yaml: string, sessions: number, policies: number) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-check-'));
  const clock = { now: Date.now, uptime: () => performance.now() };
  const store = await openSqliteRecordStore(join(folder, 'sessions.sqlite'), clock);
  const cookies = await logInAll(store, provider, sessions);
  const requests = cookies.map(cookie => checkRequest(pageOf(policies), cookie));
  const { check, use } = openDirectChecks({ store, now: Date.now });
  use(configurationOf(yaml));
  await run(check, requests, Math.max(CHECKS, requests.length));
  const costs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const begun = process.cpuUsage();
    await run(check, requests, CHECKS);
    const { system, user } = process.cpuUsage(begun);
    costs.push((user + system) / CHECKS);
  }
  await store.close();
  rmSync(folder, { recursive: true });
  return [['in this process, µs of CPU', quantile(costs, 0.5)]] as const;
}

async function run(
  check: DirectChecks['check'],
  requests: readonly Buffer[],
  count: number,
): Promise<void> {
  for (let at = 0; at < count; at++) {
    const answer = check(requests[at % requests.length] ?? Buffer.alloc(0));
    if (answer instanceof Promise) await answer;
  }
}

async function measureCalled(yaml: string, sessions: number, policies: number) {
  const [constant, ours] = [await startConstant('framed'), await startOurs('embedded', yaml)];
  const cookies = await logInAll(ours.records, provider, sessions);
  const requests = cookies.map(cookie => checkRequest(pageOf(policies), cookie));
  const costOf = ({ port, service }: { readonly port: number; readonly service: number }) =>
    measureDirectChecks({ pid: service, port }, requests, CHECKS);
  const [bases, costs]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    bases.push(await costOf(constant));
    costs.push(await costOf(ours));
  }
  await Promise.all([constant.stop(), ours.stop()]);
  const [base, cost] = [quantile(bases.slice(1), 0.5), quantile(costs.slice(1), 0.5)];
  return [
    ['called, µs of CPU', cost],
    ['constant answer, called', base],
    ['**above the constant answer**', cost - base],
  ] as const;
}
