import { toTable } from '../table.ts';
import type { Measured } from './measure.ts';

/** What others are compared to, made by the same load. */
export type Bases = {
  readonly alone: Measured;
  /** The constant answer, by who serves it. */
  readonly constants: ReadonlyMap<string, Measured>;
};

/** Columns are named after who serves them: `ours, own, Redis`. */
export function tableOf(title: string, measured: ReadonlyMap<string, Measured>, bases: Bases): string {
  const columns = [...measured].map(([name, each]) => [name, toColumn(name, each, bases)] as const);
  return toTable(title, new Map(columns));
}

function toColumn(name: string, measured: Measured, bases: Bases): ReadonlyMap<string, string> {
  const { busy, cpu, idle, p50, p99, perSecond } = measured;
  const cores = [busy.envoy, busy.service, busy.store].map(share => share.toFixed(2)).join(' + ');
  return new Map([
    ['requests/s', perSecond.toFixed(0)],
    ['**as part of Envoy alone**', `**${((100 * perSecond) / bases.alone.perSecond).toFixed(0)} %**`],
    ['p50 / p99, ms', `${p50.toFixed(2)} / ${p99.toFixed(2)}`],
    ['CPU of service + store, µs a request', `${cpu.service.toFixed(1)} + ${cpu.store.toFixed(1)}`],
    ['**above the constant answer on the same server**', above(name, measured, bases)],
    ['CPU of Envoy, µs a request', cpu.envoy.toFixed(0)],
    ['cores that Envoy + service + store had', cores],
    ['cores idle meanwhile', `${(100 * idle).toFixed(0)} %`],
  ]);
}

function above(name: string, { cpu }: Measured, { constants }: Bases): string {
  const [, server = ''] = name.split(', ');
  const base = constants.get(server);
  return base === undefined ? '–' : `**${(cpu.service + cpu.store - base.cpu.service).toFixed(1)}**`;
}
