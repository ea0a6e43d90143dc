import { ENVOY_VERSION } from '#envoy/binary.ts';
import {
  type CheckService,
  type GuardedService,
  startConstant,
  startOurs,
  startOursOn,
} from './oauth2/check-service.ts';
import { startEdge } from './oauth2/edge.ts';
import { CONNECTIONS, type Generator, h2load, REQUESTS, wrk } from './oauth2/generators.ts';
import { type Measured, measure } from './oauth2/measure.ts';
import { startProvider } from './oauth2/provider.ts';
import { SERVERS, type Server } from './oauth2/service-process.ts';
import { makeSessions } from './oauth2/sessions.ts';
import { pageOf, siteYaml } from './oauth2/site.ts';
import { type Bases, tableOf } from './oauth2/tables.ts';
import { circumstances, writePage } from './page.ts';
import { readRun, say } from './short-run.ts';

/**
 * `npx node bench/oauth2.ts [rounds]`: what the check of a request costs whose user is logged in, beside a server that lets everything pass and an Envoy
 * that asks nobody, one after the other in one run. Prints tables and writes them to `bench/results/oauth2.md`. Wants Debian's nghttp2-client (h2load), wrk
 * and redis-server, and an idle machine. Given a number of rounds of 20,000 requests it only prints. A whole run takes about 10 minutes.
 */
const ROUNDS = 5;
const SECONDS_A_ROUND = 2;
const MANY_SESSIONS = 10_000;
const MANY_POLICIES = 1_000;
/** As long as those of a session. */
const COOKIE = `gateway_session.site.default=${'0'.repeat(64)}; gateway_xsrf.site.default=${'0'.repeat(64)}`;

type Case = {
  readonly generator: Generator;
  readonly policies: number;
  readonly sessions: number;
};

type Columns = Map<string, Measured>;

const { isWhole, size: rounds } = readRun(ROUNDS, 'rounds');
const begun = circumstances();
const provider = await startProvider(MANY_SESSIONS);
const byH2load = h2load(rounds);
const seconds = Math.ceil(rounds * SECONDS_A_ROUND);
const byWrk = wrk(seconds);
const tables: string[] = [];
await measureOneSession();
await measureManySessions();
await provider.close();
if (isWhole) writePage('oauth2', page(tables.join('\n')));

async function measureOneSession(): Promise<void> {
  const base = await measureNothing(byH2load, SERVERS);
  tell('h2load: nothing decided', base.columns, base);
  const one = { generator: byH2load, sessions: 1, policies: 1 };
  const ours: Columns = new Map();
  for (const server of SERVERS) {
    const start = (yaml: string) => startOursOn(server, yaml);
    ours.set(`ours, ${server}`, await measureOurs(`ours, ${server}`, start, one));
  }
  ours.set('ours, own, Redis', await measureOurs('ours, own, Redis', yaml => startOurs('Redis', yaml), one));
  tell('h2load: 1 session, 1 policy', ours, base);
  const many = await measureStores({ ...one, policies: MANY_POLICIES });
  tell('h2load: 1 session, 1,000 policies', many, base);
}

/** Those of many sessions take wrk, which can have a cookie for each request. */
async function measureManySessions(): Promise<void> {
  const base = await measureNothing(byWrk, ['own']);
  tell('wrk: nothing decided', base.columns, base);
  const many = { generator: byWrk, sessions: MANY_SESSIONS, policies: 1 };
  tell('wrk: 1 session, 1 policy', await measureStores({ ...many, sessions: 1 }), base);
  tell('wrk: 10,000 sessions, 1 policy', await measureStores(many), base);
  const most = await measureStores({ ...many, policies: MANY_POLICIES });
  tell('wrk: 10,000 sessions, 1,000 policies', most, base);
}

/** Prints a table as soon as it is there. */
function tell(title: string, columns: Columns, bases: Bases): void {
  const table = tableOf(title, columns, bases);
  tables.push(table);
  process.stdout.write(`${table}\n`);
}

async function measureNothing(
  generator: Generator,
  servers: readonly Server[],
): Promise<Bases & { readonly columns: Columns }> {
  say('Envoy alone');
  const edge = await startEdge(siteYaml(provider.issuer, 0), 1);
  const alone = await measure(edge, undefined, pageOf(1), [COOKIE], generator).finally(edge.envoy.stop);
  const columns: Columns = new Map([['Envoy alone', alone]]);
  const constants = new Map<string, Measured>();
  for (const server of servers) {
    say(`constant answer, ${server}`);
    const measured = await measureWith(await startConstant(server), 1, generator, async () => [COOKIE]);
    columns.set(`constant answer, ${server}`, measured);
    constants.set(server, measured);
  }
  return { alone, constants, columns };
}

async function measureStores(of: Case): Promise<Columns> {
  const columns: Columns = new Map();
  for (const store of ['embedded', 'Redis'] as const) {
    const name = `ours, own, ${store}`;
    columns.set(name, await measureOurs(name, yaml => startOurs(store, yaml), of));
  }
  return columns;
}

async function measureOurs(
  name: string,
  start: (yaml: string) => Promise<GuardedService>,
  { generator, policies, sessions }: Case,
): Promise<Measured> {
  say(`${name}: sessions ${sessions}, policies ${policies}`);
  const ours = await start(siteYaml(provider.issuer, policies));
  return measureWith(ours, policies, generator, port =>
    makeSessions(port, pageOf(policies), provider, ours.records, sessions),
  );
}

async function measureWith(
  service: CheckService,
  policies: number,
  generator: Generator,
  cookiesAt: (port: number) => Promise<readonly string[]>,
): Promise<Measured> {
  try {
    const edge = await startEdge(siteYaml(provider.issuer, policies), service.port);
    try {
      return await measure(edge, service, pageOf(policies), await cookiesAt(edge.port), generator);
    } finally {
      await edge.envoy.stop();
    }
  } finally {
    await service.stop();
  }
}

function page(text: string): string {
  return `# What the check of a login costs
${begun} Envoy ${ENVOY_VERSION} with one worker, which asks the service and answers 200 itself, without access log. \`h2load --h1 -n ${REQUESTS} -c ${CONNECTIONS}\`,
${rounds} times after 2 to warm up: medians; and wrk with as many connections for ${seconds} s where there are many sessions, in turn, each of which was used before. The constant answer
lets every request pass, unchanged. Ours: one OAuth2 Filter that injects \`Authorization\` and one header from the ID token; the first session is of a login at
npm's oidc-provider, the others are made in the store; each has an access token of its own (a JWT, RS256). grpc-js, node and own: who speaks HTTP/2 for the
service. CPU is user and system time of the process. The rest of what the cores do is the load's own. Made by \`npx node bench/oauth2.ts\`.

${text}
Goals: at most 10 µs above the constant answer on the same server, flat in sessions and policies; at least 28 % of Envoy alone on Node's HTTP/2, 35 % on our own
framing (measured this way elsewhere: oauth2-proxy 21 %, a constant answer of grpc-js 18–20 %, istio authservice 14 % in memory and 12 % with Redis).
`;
}
