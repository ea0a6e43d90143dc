import { setTimeout as delay } from 'node:timers/promises';
import {
  type Reading,
  type Sources,
  watchResources,
} from '#controlplane/sources/resource-sources.ts';
import { type ApiRequest, type Cluster, connectCluster } from '#kubernetes/cluster.ts';
import { type After, after } from '#process/after.ts';
import { Parser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { Resource } from '#resources/resource.ts';

export type ApiReader = Sources & {
  /** Every reading, the newest last. */
  readonly readings: readonly Reading[];
  /** The reasons why not all was read. */
  readonly troubles: readonly string[];
  /** The requests to the API: path and selection. */
  readonly asked: readonly string[];
  /** Returns how often only statuses changed. */
  statuses(): number;
  /** What is in force. */
  inForce: readonly Resource[];
  /** Waits for the first reading, already there or later, that `wanted` accepts. */
  readingWhen(wanted: (reading: Reading) => boolean): Promise<Reading>;
};

/** Reads resources from an API, and from folders, as the control plane does. */
export async function readFrom(
  kubeconfig: string,
  {
    namespaces,
    folders = [],
    timers = after,
  }: { namespaces?: readonly string[]; folders?: readonly string[]; timers?: After } = {},
): Promise<ApiReader> {
  const cluster = await connectCluster({ kubeconfig });
  const readings: Reading[] = [];
  const asked: string[] = [];
  const troubles: string[] = [];
  let statuses = 0;
  const note = ({ path, query }: ApiRequest) =>
    asked.push(`${path} ${query?.fieldSelector ?? ''}`.trim());
  const noted: Cluster = {
    ...cluster,
    call: request => {
      note(request);
      return cluster.call(request);
    },
    open: (request, signal) => {
      note(request);
      return cluster.open(request, signal);
    },
  };
  const sources = watchResources({
    folders,
    from: '/',
    parser: new Parser(DEFAULT_PARSE_OPTIONS),
    kubernetes: { cluster: noted, namespaces },
    inForce: () => reader.inForce,
    onChange: reading => readings.push(reading),
    onTrouble: reason => troubles.push(reason),
    onStatus: () => {
      statuses += 1;
    },
    after: timers,
    random: Math.random,
  });
  const reader: ApiReader = {
    readings,
    troubles,
    asked,
    statuses: () => statuses,
    inForce: [],
    waiting: () => sources.waiting(),
    objects: () => sources.objects(),
    close: () => {
      sources.close();
      cluster.close();
    },
    async readingWhen(wanted) {
      const deadline = performance.now() + 30_000;
      for (;;) {
        const last = readings.at(-1);
        if (last !== undefined && wanted(last)) return last;
        if (performance.now() > deadline)
          throw new Error(`Not read: ${wanted}. Last: ${JSON.stringify(last?.problems)}`);
        await delay(5);
      }
    },
  };
  return reader;
}
