import cluster from 'node:cluster';
import { Socket } from 'node:net';
import type { Registry } from 'prom-client';
import type { ConnectionSource, ListeningAt } from '#grpc/connection-source.ts';
import { isJsonObject } from '#protos/json.ts';
import { Calls } from './calls.ts';
import type { ProbeSources } from './probes.ts';

/** What a worker knows of its group. */
export type Worker = {
  /** Counts from 1. */
  readonly number: number;
  /**
   * Whether others answer already. If it listened before it can answer, it would refuse what they
   * would accept.
   */
  readonly late: boolean;
  /** Calls to the process that keeps what all workers share. */
  readonly calls: Calls;
  /** Returns the port of this name, which it shares with the others. */
  port(name: string): ConnectionSource;
  /** Resolves when it is given no more connections. */
  leavePorts(): Promise<void>;
};

/**
 * Returns this process as a worker. A worker ends when the process that leads it is gone.
 * @returns undefined when this process works alone, or leads workers
 */
export async function joinWorkers(): Promise<Worker | undefined> {
  if (!cluster.isWorker) return undefined;
  const calls = new Calls({
    send: message => process.send?.(message, undefined, undefined, () => {}),
    on: (event, hear) => process.on(event, hear),
  });
  const takers = receiveConnections(calls);
  const joined = await calls.ask('join');
  if (!isJsonObject(joined) || typeof joined.number !== 'number')
    throw new Error('this process has no leader to join');
  return {
    ...{ calls, number: joined.number, late: joined.late === true },
    port: name => async (at, take) => {
      takers.set(name, take);
      return (await calls.ask('listen', { ...at, name })) as ListeningAt;
    },
    leavePorts: async () => void (await calls.ask('leave ports')),
  };
}

/** Returns what takes the connections, by the name of the port. */
function receiveConnections(calls: Calls): Map<string, (socket: Socket) => void> {
  const takers = new Map<string, (socket: Socket) => void>();
  process.on('message', (message, socket) => {
    if (!isJsonObject(message) || typeof message.connection !== 'string') return;
    const name = message.connection;
    calls.tell('took', name);
    // The connection may have been cut on its way.
    if (!(socket instanceof Socket)) return calls.tell('closed', name);
    socket.once('close', () => calls.tell('closed', name));
    takers.get(name)?.(socket);
  });
  return takers;
}

/**
 * Returns what probes and monitoring are told of all workers, whichever one they ask. `own` is what
 * this process says of itself.
 */
export function groupProbes(
  own: { notReady(): string | undefined; readonly registry: Registry },
  worker: Worker | undefined,
): ProbeSources {
  if (worker === undefined)
    return { notReady: own.notReady, metrics: () => own.registry.metrics() };
  worker.calls.answer('values', () => own.registry.getMetricsAsJSON());
  return {
    notReady: async () => own.notReady() ?? textOf(await worker.calls.ask('notReady')),
    metrics: async () => textOf(await worker.calls.ask('metrics')) ?? '',
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
