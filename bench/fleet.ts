import { parseArgs } from 'node:util';
import { type Cost, type FleetCosts, measureFleet } from './fleet/measure-fleet.ts';
import { circumstances, writePage } from './page.ts';
import { toTable } from './table.ts';

/**
 * Measures a control plane with many proxies, which processes of their own play over real gRPC.
 * Options: `--mappings` and `--proxies` for one size, `--edits` of each sort, and `--quick` for a
 * run that shows only that all of it works. `node bench/fleet.ts --write` writes the page of
 * results.
 */
const { values } = parseArgs({
  options: {
    mappings: { type: 'string' },
    proxies: { type: 'string', default: '200' },
    edits: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const SIZES = [
  [3_000, 20],
  [3_000, 200],
  [10_000, 1],
  [10_000, 200],
  [10_000, 2_000],
] as const;

const began = circumstances();
const sizes = values.quick
  ? [[100, 10] as const]
  : values.mappings === undefined
    ? SIZES
    : [[Number(values.mappings), Number(values.proxies)] as const];
const costs: FleetCosts[] = [];
for (const [mappings, proxies] of sizes)
  costs.push(await measureFleet(mappings, proxies, values.quick ? 1 : Number(values.edits)));

const TITLES = {
  route:
    'One Mapping gets another host for its service, so a route changes. All proxies wait for it',
  cluster: 'One Mapping gets another service, so there is a new cluster too',
  start: 'All proxies connect, with nothing',
  storm: 'All proxies connect again at once with what they hold, while a route is edited',
} as const;

const text = `# Many proxies

${began} \`node bench/fleet.ts ${process.argv.slice(2).join(' ')}\`

The control plane is a process of its own, and so are two processes that play proxies. Each proxy
has a connection and one delta stream, over the loopback interface. Times include the work of the
processes that play proxies, on the same cores. CPU is that of the control plane, from the file's
write to one second after the last proxy was sent the change. A pause is the longest time in which
its event loop did nothing else.

${Object.entries(TITLES)
  .map(([name, title]) => `${title}:\n\n${tableOf(name as keyof typeof TITLES)}`)
  .join('\n')}
Memory:

${toTable(
  'Mappings × proxies',
  columns(({ heldKib, route }) => [
    ['in use for each proxy', `${heldKib.toFixed(0)} KiB`],
    ['of the process', `${route.rss.toFixed(0)} MiB`],
  ]),
)}`;
console.log(text);
if (values.write) writePage('fleet', text);
process.exit(0);

function tableOf(name: keyof typeof TITLES): string {
  return toTable(
    'Mappings × proxies',
    columns(costs => rows(costs[name], costs.proxies)),
  );
}

function columns(
  rowsOf: (costs: FleetCosts) => readonly (readonly [string, string])[],
): Map<string, Map<string, string>> {
  return new Map(
    costs.map(each => [
      `${each.mappings.toLocaleString('en')} × ${each.proxies.toLocaleString('en')}`,
      new Map(rowsOf(each)),
    ]),
  );
}

function rows(cost: Cost, proxies: number): readonly (readonly [string, string])[] {
  return [
    ['until the last proxy has it', `${cost.ms.toFixed(0)} ms`],
    ['CPU', `${cost.cpuMs.toFixed(0)} ms`],
    ['bytes to each proxy', Math.round(cost.bytes / proxies).toLocaleString('en')],
    ['messages to each proxy', (cost.messages / proxies).toFixed(1)],
    ['connections lost', String(cost.lost)],
    ['longest pause', `${cost.longestMs.toFixed(0)} ms`],
    ['memory of the process', `${cost.rss.toFixed(0)} MiB`],
  ];
}
