import { startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';
import { constantAnswer, envoyAlone, ours, oursRepeated } from './oauth2/columns.ts';
import { CONNECTIONS, h2load, REQUESTS } from './oauth2/generators.ts';
import { measureTable } from './oauth2/tables.ts';
import { circumstances, writePage } from './page.ts';
import { readRun } from './short-run.ts';

/**
 * Run `npx node bench/decision-cache.ts [rounds]`. It measures what a request of a session costs
 * where the proxy asks about each, and where it repeats decisions (`decisionCache`). Beside both is
 * an Envoy without checks. They take turns. Writes `bench/results/decision-cache.md`. Given a
 * number of rounds it only prints. Needs Debian's nghttp2-client (h2load) and an idle machine.
 */
const ROUNDS = 5;
const ONE = { sessions: 1, policies: 1, prefix: '/guarded-0/' } as const;

const { isWhole, size: rounds } = readRun(ROUNDS, 'rounds');
const begun = circumstances();
const provider = await startHostileProvider();
const columns = [
  envoyAlone(provider),
  constantAnswer(provider, 'framed'),
  ours(provider, 'embedded', ONE),
  oursRepeated(provider, 'embedded', { ...ONE, decisionCache: '1s' }),
];

const { table } = await measureTable('h2load: 1 session, 1 policy', columns, h2load(), rounds);
await provider.close();
process.stdout.write(`${table}\n`);
if (isWhole) writePage('decision-cache', page());

function page(): string {
  return `# What a repeated decision saves

${begun} \`npx node bench/decision-cache.ts\`

Envoy ${ENVOY_VERSION} with one worker answers 200 itself, without access log. Its Filter injects
\`Authorization\` and one header of the ID token. \`h2load --h1 -n ${REQUESTS} -c ${CONNECTIONS}\`
with one session, in ${rounds} rounds, in which the columns take turns. Throughput and times are
medians. CPU is the mean of user and system time of the process.

${table}
The goal is at least 50 % of Envoy alone.
`;
}
