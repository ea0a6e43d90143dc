import { startSystem } from '#envoy/e2e/system.ts';
import { cpuInTurn } from './cpu-in-turn.ts';
import { startMinimum } from './minimum/hand-written.ts';
import { circumstances, writePage } from './page.ts';
import { fieldsOf, resources } from './public-path/ways.ts';
import { sendRequests, startRawService } from './raw-http.ts';
import { askedRounds } from './rounds.ts';
import { toTable } from './table.ts';

/**
 * Measures the CPU of the generated edge beside that of an Envoy with a minimum that is written by
 * hand. Both ask the same services and send requests to the same instance. Options: `--rounds`,
 * `--requests` of a round, and `--quick` for a run that shows only that all of it works.
 * `node bench/minimum.ts --write` writes the page of results.
 */
const { rounds, requests, write } = askedRounds({ requests: 10_000, quick: 1_000 });
const CONNECTIONS = 32;
const WAYS = [
  { name: 'plain', host: 'none.test', login: false, limit: false },
  { name: 'a limit', host: 'limit.test', login: false, limit: true },
  { name: 'a login', host: 'login.test', login: true, limit: false },
  { name: 'a login and a limit', host: 'both.test', login: true, limit: true },
] as const;

const began = circumstances();
const service = await startRawService();
const system = await startSystem({ resources: { 'ways.yaml': resources(service.port) } });
const { extAuthz, rateLimit, edge: edgePort } = system.ports;
const minimum = await startMinimum(WAYS, { extAuthz, rateLimit, service: service.port });
const edge = await system.pid('edge');
if (edge === undefined) throw new Error('the edge does not run');
const arms = WAYS.flatMap(({ host }) =>
  [
    { port: edgePort, pid: edge },
    { port: minimum.port, pid: minimum.envoy.pid },
  ].map(({ pid, port }) => ({
    pids: [pid],
    send: () => sendRequests(port, '/site/a?b=c', requests, CONNECTIONS, fieldsOf(host)),
  })),
);
const costs = (await cpuInTurn(arms, { rounds, requests })).map(([us = 0]) => us);
await minimum.envoy.stop();
await system.stop();
service.stop();

const us = (value: number) => `${value.toFixed(1)} µs`;
const columns = WAYS.map(({ name }, n) => {
  const [ours = 0, least = 1] = costs.slice(2 * n);
  return [
    name,
    new Map([
      ['the generated edge', us(ours)],
      ['a minimum written by hand', us(least)],
      ['edge : minimum', `${(ours / least).toFixed(2)} ×`],
    ]),
  ] as const;
});
const text = `# The generated edge beside a minimum written by hand

${began} \`node bench/minimum.ts --write\`

CPU of Envoy for a request from a client to a service and back, in rounds that alternate. Both have
one worker, ask the same ext-authz and ratelimit-service, and log each request. The minimum has no
setting that the four routes do not need. The login is a JWT Filter that sets one header.

${toTable('virtual host with', new Map(columns))}`;
console.log(text);
if (write) writePage('minimum', text);
process.exit(0);
