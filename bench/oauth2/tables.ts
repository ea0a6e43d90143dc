import { say } from '../short-run.ts';
import { toTable } from '../table.ts';
import type { Column } from './columns.ts';
import type { Generator } from './generators.ts';
import { measureInTurn, type Round, type Subject } from './measure.ts';
import { measuredIn, shareOf } from './measured.ts';

/** The rounds of each column of a table, by its name. */
export type Rounds = ReadonlyMap<string, readonly Round[]>;

/** Starts all columns of a table, and measures them in turn. */
export async function measureTable(
  title: string,
  columns: readonly Column[],
  generator: Generator,
  rounds: number,
): Promise<{ readonly table: string; readonly rounds: Rounds }> {
  await using stack = new AsyncDisposableStack();
  const subjects: Subject[] = [];
  for (const { name, start } of columns) {
    say(`${title}: ${name}`);
    subjects.push(await start(stack));
  }
  const measured = await measureInTurn(subjects, generator, rounds);
  const byName = new Map(columns.map(({ name }, n) => [name, measured[n] ?? []]));
  const cells = new Map(columns.map(column => [column.name, toCells(column, byName)]));
  return { table: toTable(title, cells), rounds: byName };
}

function toCells(column: Column, rounds: Rounds): ReadonlyMap<string, string> {
  const { busy, cpu, idle, p50, p99, perSecond } = measuredIn(roundsOf(column.name, rounds));
  const cores = [busy.envoy, busy.service, busy.store].map(share => share.toFixed(2)).join(' + ');
  return new Map([
    ['requests/s', perSecond.toFixed(0)],
    ['**as part of Envoy alone**', `**${percentOfAlone(column, rounds)}**`],
    ['p50 / p99, ms', `${p50.toFixed(2)} / ${p99.toFixed(2)}`],
    ['CPU of service + store, µs a request', `${cpu.service.toFixed(1)} + ${cpu.store.toFixed(1)}`],
    ['**above the constant answer on the same server**', aboveConstant(column, rounds)],
    ['CPU of Envoy, µs a request', cpu.envoy.toFixed(0)],
    ['cores that Envoy + service + store had', cores],
    ['cores idle meanwhile', `${(100 * idle).toFixed(0)} %`],
  ]);
}

/** Returns what was kept of the throughput of the Envoy without checks. */
export function percentOfAlone({ alone, name }: Column, rounds: Rounds): string {
  return `${(100 * shareOf(roundsOf(name, rounds), roundsOf(alone, rounds))).toFixed(0)} %`;
}

function aboveConstant({ constant, name }: Column, rounds: Rounds): string {
  if (constant === undefined) return '–';
  const { service, store } = measuredIn(roundsOf(name, rounds)).cpu;
  const answer = measuredIn(roundsOf(constant, rounds)).cpu.service;
  return `**${(service + store - answer).toFixed(1)}**`;
}

function roundsOf(name: string, rounds: Rounds): readonly Round[] {
  const found = rounds.get(name);
  if (found === undefined) throw new Error(`no column "${name}" in this table`);
  return found;
}
