import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ENVOY_VERSION } from '#envoy/binary.ts';
import { type CheckService, type StoreKind, startConstant, startOurs } from './oauth2/check-service.ts';
import { startEdge } from './oauth2/edge.ts';
import { CONNECTIONS, type Measured, measure, WARM_UP_SECONDS } from './oauth2/measure.ts';
import { startProvider } from './oauth2/provider.ts';
import { makeSessions } from './oauth2/sessions.ts';
import { pageOf, siteYaml } from './oauth2/site.ts';
import { toTable } from './table.ts';

/**
 * `npx node bench/oauth2.ts [seconds]`: what the check of a request costs whose user is logged in, beside a server that lets everything pass and an Envoy
 * that asks nobody, one after the other in one run. Prints tables and writes them to `bench/results/oauth2.md`. Wants Debian's wrk and redis-server, and an
 * idle machine. Given a number of seconds for each measurement it only prints.
 */
const STORES: readonly StoreKind[] = ['embedded', 'Redis'];
const SESSIONS = [1, 10_000];
const POLICIES = [1, 1_000];
const SECONDS = 5;
const RESULTS = join(import.meta.dirname, 'results', 'oauth2.md');
/** As long as those of a session. */
const COOKIE = `gateway_session.site.default=${'0'.repeat(64)}; gateway_xsrf.site.default=${'0'.repeat(64)}`;

const say = (line: string) => void process.stderr.write(`${line}\n`);
const seconds = Number(process.argv[2] ?? SECONDS);
if (!Number.isInteger(seconds) || seconds < 1)
  throw new Error(`"${process.argv[2]}" is no whole number of seconds`);

const provider = await startProvider(Math.max(...SESSIONS));
const alone = await measureAlone();
const grpcJs = await measureConstant('grpc-js');
const unary = await measureConstant('unary');
const columns = new Map([
  ['Envoy alone', alone],
  ['constant answer, grpc-js', grpcJs],
  ['constant answer, protos/unary', unary],
]);
const tables = [tableOf('nothing decided', columns)];
for (const sessions of SESSIONS) {
  for (const policies of POLICIES) {
    const ours = new Map<string, Measured>();
    for (const store of STORES)
      ours.set(`ours, store ${store}`, await measureOurs(store, sessions, policies));
    tables.push(tableOf(`${counted(sessions, 'session')}, ${counted(policies, 'policy', 'policies')}`, ours));
  }
}
await provider.close();
const text = tables.join('\n');
process.stdout.write(text);
if (process.argv[2] === undefined) writeFileSync(RESULTS, page(text));

async function measureAlone(): Promise<Measured> {
  say('Envoy alone');
  const edge = await startEdge(siteYaml(provider.issuer, 0), 1);
  try {
    return await measure(edge, undefined, pageOf(1), [COOKIE], seconds);
  } finally {
    await edge.envoy.stop();
  }
}

async function measureConstant(server: 'grpc-js' | 'unary'): Promise<Measured> {
  say(`constant answer, ${server}`);
  return measureWith(await startConstant(server), 1, async () => [COOKIE]);
}

async function measureOurs(store: StoreKind, sessions: number, policies: number): Promise<Measured> {
  say(`ours, store ${store}: sessions ${sessions}, policies ${policies}`);
  const ours = await startOurs(store, siteYaml(provider.issuer, policies));
  return measureWith(ours, policies, port =>
    makeSessions(port, pageOf(policies), provider, ours.records, sessions),
  );
}

async function measureWith(
  service: CheckService,
  policies: number,
  cookiesAt: (port: number) => Promise<readonly string[]>,
): Promise<Measured> {
  try {
    const edge = await startEdge(siteYaml(provider.issuer, policies), service.port);
    try {
      return await measure(edge, service, pageOf(policies), await cookiesAt(edge.port), seconds);
    } finally {
      await edge.envoy.stop();
    }
  } finally {
    await service.stop();
  }
}

function tableOf(title: string, measured: ReadonlyMap<string, Measured>): string {
  return toTable(title, new Map([...measured].map(([name, each]) => [name, toColumn(each)])));
}

function toColumn({ envoy, p50, p99, perSecond, service, store }: Measured): ReadonlyMap<string, string> {
  const above = (base: Measured) => (service === 0 ? '–' : (service + store - base.service).toFixed(1));
  return new Map([
    ['CPU of service + store, µs a request', `${service.toFixed(1)} + ${store.toFixed(1)}`],
    ['**above the constant answer, protos/unary**', bold(above(unary))],
    ['above the constant answer, grpc-js', above(grpcJs)],
    ['CPU of Envoy, µs a request', envoy.toFixed(0)],
    ['requests/s', perSecond.toFixed(0)],
    ['**as part of Envoy alone**', bold(`${((100 * perSecond) / alone.perSecond).toFixed(0)} %`)],
    ['p50 / p99, ms', `${p50.toFixed(2)} / ${p99.toFixed(2)}`],
  ]);
}

function bold(text: string): string {
  return `**${text}**`;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

function page(tables: string): string {
  const date = new Date().toISOString().slice(0, 10);
  return `# What the check of a login costs
${date}, ${availableParallelism()} cores, Node ${process.versions.node}, Envoy ${ENVOY_VERSION} with one worker. wrk with ${CONNECTIONS} connections → Envoy, which asks the service and answers
200 itself, without access log. The constant answer lets every request pass, unchanged. Ours: one OAuth2 Filter that injects \`Authorization\` and one header from
the ID token; the first session is of a login at npm's oidc-provider, the others are made in the store; each has an access token of its own (a JWT,
RS256), and the requests go through all sessions in turn. ${seconds} s each after at least ${WARM_UP_SECONDS} s of warming up, in which each session was used. CPU is user and system time of the process. Made by
\`npx node bench/oauth2.ts\`.

${tables}
Goals: at most 10 µs above the constant answer on the same server, flat in sessions and policies; more than 21 % of Envoy alone (measured this way elsewhere:
oauth2-proxy 21 %, istio authservice 14 % in memory and 12 % with Redis).
`;
}
