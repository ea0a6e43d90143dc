import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';
import { measureInProcess } from './in-process.ts';
import { circumstances, writePage } from './page.ts';
import { medianAndP99, toMs } from './quantile.ts';
import { toTable } from './table.ts';
import { measureWriteToEffect } from './write-to-effect.ts';

/**
 * Run `npx node bench/edit-to-effect.ts`. It measures how long it takes from the edit of one
 * Mapping among many to the changed answer of a real Envoy, and where the time goes. Prints a
 * table, and writes it to `bench/results/edit-to-effect.md`. Given numbers of Mappings, it measures
 * those and only prints.
 */
const EDITS = 30;
const COUNTS = [2, 1_000, 10_000];

const asked = process.argv.slice(2).map(Number);
if (!asked.every(Number.isInteger)) throw new Error('want numbers of Mappings, or nothing');
const begun = circumstances();
const columns = new Map<string, ReadonlyMap<string, string>>();
for (const count of asked.length === 0 ? COUNTS : asked) {
  columns.set(
    `${count.toLocaleString('en')} Mappings`,
    new Map([...(await inside(count)), ...(await outside(count))]),
  );
}
const table = toTable('ms (of edits: median / p99)', columns);
process.stdout.write(table);
if (asked.length === 0) writePage('edit-to-effect', page(table));

async function inside(count: number): Promise<Map<string, string>> {
  const { first, edits, acks } = await measureInProcess(count, EDITS);
  const stages = ['parse', 'compile', 'encode'] as const;
  return new Map([
    ...stages.map(stage => [`${stage}, at the start`, first[stage].toFixed(1)] as const),
    ...stages.map(
      stage => [`${stage}, one edit`, medianAndP99(edits.map(edit => edit[stage]))] as const,
    ),
    ['published → ACKed, route only', medianAndP99(acks.routeOnly)],
    ['published → ACKed, new cluster', medianAndP99(acks.newCluster)],
  ]);
}

async function outside(count: number): Promise<Map<string, string>> {
  const { newCluster, routeOnly, start, memory, cpuMs } = await measureWriteToEffect(count, EDITS);
  return new Map([
    ['start of the control plane and Envoy → first answer', toMs(start)],
    ['**file written → changed answer, route only**', medianAndP99(routeOnly)],
    ['**file written → changed answer, new cluster**', medianAndP99(newCluster)],
    [
      'CPU time of one edit: control plane + Envoy',
      `${toMs(cpuMs.controlPlane)} + ${toMs(cpuMs.envoy)}`,
    ],
    [
      'memory of the control plane, MiB (at its highest)',
      `${memory.now.toFixed(0)} (${memory.highest.toFixed(0)})`,
    ],
  ]);
}

function page(table: string): string {
  return `# From an edit to its effect
${begun} Envoy ${ENVOY_VERSION} with one worker. All Mappings are in one file, and each has a cluster of its own.
${EDITS} edits of each sort are made, so their p99 is the slowest. Made by \`npx node bench/edit-to-effect.ts\`.

${table}
The goal for an edit is less than 200 ms at the median with up to 1,000 Mappings. For 99 of 100 it is less than 100 ms with 1,000, and 500 ms with 10,000.
For memory it is less than 200 MiB with 1,000, and 600 MiB with 10,000.
`;
}
