import cluster from 'node:cluster';
import type { Registry } from 'prom-client';
import { isJsonObject } from '#protos/json.ts';
import { Calls } from './calls.ts';
import type { ProbeSources } from './probes.ts';

/** What a worker knows of the group that it is one of. */
export type Worker = {
  /** From 1. */
  readonly number: number;
  /** Others answer already: to listen before it can answer would be to refuse what they would not. */
  readonly late: boolean;
  /** To the process that keeps what all workers share. */
  readonly calls: Calls;
};

/** This process as a worker; undefined: it works alone, or leads workers. A worker ends when the process that leads it is gone. */
export async function joinWorkers(): Promise<Worker | undefined> {
  if (!cluster.isWorker) return undefined;
  const calls = new Calls({
    send: message => process.send?.(message, undefined, undefined, () => {}),
    on: (event, hear) => process.on(event, hear),
  });
  const joined = await calls.ask('join');
  if (!isJsonObject(joined) || typeof joined.number !== 'number') throw new Error('there is nobody to join');
  return { number: joined.number, late: joined.late === true, calls };
}

/** What probes and monitoring are told of all workers, whichever they ask. `own` is what this process says of itself. */
export function groupProbes(
  own: { notReady(): string | undefined; readonly registry: Registry },
  worker: Worker | undefined,
): ProbeSources {
  if (worker === undefined) return { notReady: own.notReady, metrics: () => own.registry.metrics() };
  worker.calls.answer('values', () => own.registry.getMetricsAsJSON());
  return {
    notReady: async () => own.notReady() ?? textOf(await worker.calls.ask('notReady')),
    metrics: async () => textOf(await worker.calls.ask('metrics')) ?? '',
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
