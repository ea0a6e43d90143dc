import { circumstances, writePage } from './page.ts';
import { askedRounds } from './rounds.ts';
import { toTable } from './table.ts';
import { measureTraces, PARTS } from './traces/measure-traces.ts';

/**
 * Measures what it costs to see everything: the CPU of an edge, of ext-authz and of
 * ratelimit-service for a request with a session and a limit, with nothing switched on, and with
 * traces, figures and a LogService of each driver. The systems run side by side in one run, in
 * rounds that alternate. Options: `--rounds`, `--requests` of a round, and `--quick` for a run that
 * shows only that all of it works. The page of results is written by `node bench/traces.ts
 * --write`.
 */
const { rounds, requests, write } = askedRounds({ requests: 6_000, quick: 200 });
const began = circumstances();
const costs = await measureTraces(rounds, requests);
const [off] = costs;

const cell = (us: number, without: number) =>
  `${us.toFixed(0)} µs (${(us / Math.max(without, 1)).toFixed(2)} ×)`;
const sumOf = (us: Readonly<Record<string, number>>) =>
  Object.values(us).reduce((sum, each) => sum + each, 0);
const text = `# What it costs to see everything

${began} \`node bench/traces.ts --write\`

CPU for a request with a session and a limit, side by side in ${rounds} rounds that alternate, of
${requests} requests each. The proxies send spans and logs over gRPC and the services send spans over
HTTP, to an OpenTelemetry Collector. Logs of the driver \`http\` go to a service that counts them.
The CPU of both is not counted. Figures are statistics and sampled requests, for the console.

${toTable(
  '',
  new Map(
    costs.map(({ name, us }) => [
      name,
      new Map([
        ...PARTS.map(part => [part, cell(us[part], off?.us[part] ?? 0)] as const),
        ['all three', cell(sumOf(us), sumOf(off?.us ?? {}))],
      ]),
    ]),
  ),
)}`;
console.log(text);
if (write) writePage('traces', text);
process.exit(0);
