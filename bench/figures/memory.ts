import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { decodeAccessLog } from '#controlplane/figures/decode-access-log.ts';
import { decodeMetrics } from '#controlplane/figures/decode-metrics.ts';
import { FigureStore } from '#controlplane/figures/figure-store.ts';
import { logEntry, logMessage } from '#controlplane/figures/testing/figure-messages.ts';
import { pushOf } from './simulated-pushes.ts';

/** MiB after so many requests. */
export type MemoryAt = {
  readonly requests: number;
  readonly heap: number;
  readonly arrays: number;
};

/** In one push each of the routes has so many requests. */
const REQUESTS_A_ROUTE = 9;
const PUSH_MS = 5_000;

/** Keeps the figures of so many requests over so many routes, of which one in ten is sampled. */
export function measureMemory(routes: number, requests: number): readonly MemoryAt[] {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let now = Date.now();
  const clusters = {
    origins: () => [],
    statName: () => undefined,
    behind: () => [],
    serves: () => true,
  };
  const store = new FigureStore({ clustersOf: () => clusters, changed: () => {}, now: () => now });
  const mappings = Array.from({ length: routes }, (_, number) => number);
  const messages = pushOf({ id: 'edge-1', group: 'edge', isEdge: true, mappings });
  const node = { id: 'edge-1', group: 'edge' };
  const found: MemoryAt[] = [];
  const perPush = routes * REQUESTS_A_ROUTE;
  let next = 0;
  for (let sent = 0; sent <= requests; sent += perPush, now += PUSH_MS) {
    const push = { node, from: now - PUSH_MS, to: now };
    for (const message of messages)
      decodeMetrics(message, {
        node: () => {},
        counter: (name, value, moment) =>
          store.counter({ proxy: store, push, moment }, name, value),
        gauge: (name, value, moment) => store.gauge({ proxy: store, push, moment }, name, value),
        histogram: (name, counts) => store.histogram(push, name, counts),
      });
    store.pushed(store, push);
    for (let sample = 0; sample < perPush / 10; sample += 100)
      decodeAccessLog(samples(sample, now), {
        node: () => {},
        wants: () => true,
        request: request => store.request(node, request),
      });
    if (sent < next) continue;
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    found.push({ requests: sent, heap: heapUsed / 2 ** 20, arrays: arrayBuffers / 2 ** 20 });
    next += requests / 10;
  }
  return found;
}

/** Returns a message with 100 requests of paths that no other has. */
function samples(first: number, now: number): Buffer {
  const start_time = { seconds: Math.floor(now / 1_000) };
  const entries = Array.from({ length: 100 }, (_, index) =>
    logEntry(`/m${first + index}/${now}?secret`, index % 50 === 0 ? 503 : 200, { start_time }),
  );
  return logMessage(entries);
}
