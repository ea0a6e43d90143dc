import { request } from 'node:http';
import { parseArgs } from 'node:util';
import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { EDITED } from './mappings.ts';
import { circumstances, writePage } from './page.ts';
import { cpuMsOf, memoryOf } from './process-usage.ts';
import { medianAndP99 } from './quantile.ts';
import { type CommandUsage, runCommand } from './scale/run-command.ts';
import { toTable } from './table.ts';
import { measureWriteToEffect } from './write-to-effect.ts';

/**
 * Measures what an operator waits for with thousands of Mappings: start, edit, `validate`,
 * `explain`, `status`, and the pages of the console. Options: `--mappings` and `--services` for one
 * size, `--edits` of each sort. `npx node bench/scale.ts --write` writes the page of results.
 */
const { values } = parseArgs({
  options: {
    mappings: { type: 'string' },
    services: { type: 'string' },
    edits: { type: 'string', default: '30' },
    write: { type: 'boolean', default: false },
  },
});
type Size = { readonly mappings: number; readonly services: number; readonly edits: number };

const edits = Number(values.edits);
/** An edit among 100,000 takes longer. */
const FEW = Math.ceil(edits / 3);
const SIZES: readonly Size[] = [
  { mappings: 1_000, services: 1_000, edits },
  { mappings: 10_000, services: 10_000, edits },
  { mappings: 10_000, services: 100, edits },
  { mappings: 100_000, services: 1_000, edits: FEW },
];
/** What is asked of the control plane, and what the console asks for each screen. */
const PAGES = ['/status', ...['overview', 'routes', 'services', 'security'].map(ofConsole)];

const began = circumstances();
const columns = new Map<string, ReadonlyMap<string, string>>();
for (const size of sizes()) {
  const title = `${count(size.mappings)} to ${count(size.services)} services`;
  columns.set(title, await measure(size));
  process.stderr.write(toTable(title, new Map([[title, columns.get(title) ?? new Map()]])));
}
const text = `# Thousands of Mappings, as an operator meets them

${began} Envoy ${ENVOY_VERSION} with one worker. \`node bench/scale.ts ${process.argv.slice(2).join(' ')}\`

All Mappings are in one file, and lead to so many services. Those of one service have equal settings,
so they share its cluster. The control plane, the Envoy and each command are processes of their own.
A start begins with the start of the control plane, and ends when the edge has an answer of a
service. The Envoy starts when the control plane listens. An edit begins with the write of the file
and ends with the changed answer of the edge. Memory is from the kernel. A page is asked for twice,
since what it needs is made at the first question after an edit. By \`npm run bench -- scale\` Node
keeps what it compiled, as every command of the gateway does.

${toTable('Mappings', columns)}`;
console.log(text);
if (values.write) writePage('scale', text);
process.exit(0);

function sizes(): readonly Size[] {
  if (values.mappings === undefined) return SIZES;
  const mappings = Number(values.mappings);
  return [{ mappings, services: Number(values.services ?? mappings), edits }];
}

async function measure({ mappings, services, edits }: Size): Promise<Map<string, string>> {
  const rows = new Map<string, string>();
  const { start, newCluster, routeOnly, memory, cpuMs } = await measureWriteToEffect(
    mappings,
    edits,
    services,
    async gateway => {
      for (const [row, cell] of await look(gateway)) rows.set(row, cell);
    },
  );
  return new Map([
    ['**start until the edge serves**', seconds(start)],
    ['**edit of a route, ms (median / p99)**', medianAndP99(routeOnly)],
    ['edit to a new cluster, ms (median / p99)', medianAndP99(newCluster)],
    ['CPU of an edit: control plane', `${cpuMs.controlPlane.toFixed(0)} ms`],
    ['CPU of an edit: Envoy', `${cpuMs.envoy.toFixed(0)} ms`],
    [
      '**memory of the control plane (at its highest)**',
      `${mib(memory.now)} (${memory.highest.toFixed(0)})`,
    ],
    ...rows,
  ]);
}

/** Measures the commands and the pages, beside a gateway that has nothing else to do. */
async function look(gateway: GatewayProcess): Promise<ReadonlyMap<string, string>> {
  const { controlPlane, envoy, http, resources } = gateway;
  const rows = new Map([['memory of the Envoy', mib(memoryOf(envoy).now)]]);
  const validated = await runCommand(['validate', resources], '0 problems');
  rows.set('`gateway validate`', used(validated));
  const url = `http://any.test${EDITED}`;
  const files = await runCommand(['explain', 'GET', url, '--resources', resources], 'edited');
  rows.set('`gateway explain --resources`', used(files));
  const before = cpuMsOf(controlPlane);
  const asked = await runCommand(['explain', 'GET', url, '--address', http], 'edited');
  const cpu = cpuMsOf(controlPlane) - before;
  rows.set('`gateway explain` of what is in force', `${seconds(asked.ms)}, CPU there ${cpu} ms`);
  for (const path of PAGES) {
    const first = await ask(http, path);
    const again = await ask(http, path);
    const kb = (first.bytes / 1_000).toFixed(0);
    rows.set(`\`${path}\``, `${first.ms.toFixed(0)} ms, again ${again.ms.toFixed(0)} ms, ${kb} KB`);
  }
  const { now, highest } = memoryOf(controlPlane);
  rows.set('memory of the control plane after that', `${mib(now)} (${highest.toFixed(0)})`);
  return rows;
}

function ask(at: string, path: string): Promise<{ readonly ms: number; readonly bytes: number }> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const asking = request(`http://${at}${path}`, response => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve({ ms: performance.now() - begun, bytes });
        else reject(new Error(`${path}: ${response.statusCode}`));
      });
    });
    asking.on('error', reject).end();
  });
}

function ofConsole(screen: string): string {
  return `/console/api/${screen}`;
}

function used({ cpuMs, mib: most, ms }: CommandUsage): string {
  return `${seconds(ms)}, CPU ${seconds(cpuMs)}, ${mib(most)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

function mib(size: number): string {
  return `${size.toFixed(0)} MiB`;
}

function count(number: number): string {
  return number.toLocaleString('en');
}
