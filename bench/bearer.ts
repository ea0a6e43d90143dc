import { startBearerEdge } from './bearer/edge.ts';
import { byChance } from './cpu-in-turn.ts';
import { runH2load } from './h2load.ts';
import { circumstances, writePage } from './page.ts';
import { cpuMsOf } from './process-usage.ts';
import { quantile } from './quantile.ts';
import { readRun, say } from './short-run.ts';
import { toTable } from './table.ts';

/**
 * Run `npx node bench/bearer.ts [rounds]`. It measures what a bearer token costs that the proxy
 * verifies itself, beside the same edge on a host where nothing decides. They take turns. Writes
 * `bench/results/bearer.md`. Given a number of rounds it only prints. Needs Debian's nghttp2-client
 * (h2load) and an idle machine.
 */
const ROUNDS = 7;
const REQUESTS = 20_000;
const CONNECTIONS = 16;
const HOSTS = { 'Envoy alone': 'alone.test', 'a token, verified by the proxy': 'tokens.test' };

const { isWhole, size: rounds } = readRun(ROUNDS, 'rounds');
const begun = circumstances();
const { envoy, token } = await startBearerEdge();
const ways = Object.entries(HOSTS).map(([name, host]) => ({
  ...{ name, host },
  perSecond: [] as number[],
  us: [] as number[],
}));
for (let round = 0; round <= rounds; round++)
  for (const way of byChance(ways)) {
    const before = cpuMsOf(envoy.pid);
    const load = await runH2load(`http://${way.host}/a?b=c`, envoy.port, {
      requests: REQUESTS,
      connections: CONNECTIONS,
      headers: { authorization: `Bearer ${token}` },
    });
    if (load.failed > 0) throw new Error(`${way.name}: ${load.failed} requests failed`);
    say(`${way.name}: ${Math.round(load.perSecond)}/s`);
    // The first round warms up.
    if (round === 0) continue;
    way.perSecond.push(load.perSecond);
    way.us.push(((cpuMsOf(envoy.pid) - before) * 1_000) / REQUESTS);
  }
await envoy.stop();

const [alone] = ways;
const median = (values: readonly number[] = []) => quantile(values, 0.5);
const table = toTable(
  'on the same edge',
  new Map(
    ways.map(({ name, perSecond, us }) => [
      name,
      new Map([
        ['requests/s', `${Math.round(median(perSecond))}`],
        [
          'share of Envoy alone',
          `${Math.round((100 * median(perSecond)) / median(alone?.perSecond))} %`,
        ],
        ['CPU of Envoy', `${median(us).toFixed(1)} µs`],
      ]),
    ]),
  ),
);
process.stdout.write(`${table}\n`);
if (isWhole)
  writePage(
    'bearer',
    `# What a bearer token costs that the proxy verifies

${begun} \`npx node bench/bearer.ts\`

Envoy answers 200 itself, without access log. The Filter compares issuer, audience, expiry and one
scope, and sets one header. \`h2load --h1 -n ${REQUESTS} -c ${CONNECTIONS}\` with one token on both
hosts, in ${rounds} rounds, in which they take turns. Figures are medians.

${table}
The goal is at least 70 % of Envoy alone.
`,
  );
