import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CounterOwners } from './counter-owner.ts';
import type { CounterStoreStatus } from './counter-store.ts';
import { type LimitTallies, limitTallies } from './limit-tallies.ts';

export type Metrics = LimitTallies & {
  readonly registry: Registry;
  answered(code: 'OK' | 'OVER_LIMIT' | 'INVALID_ARGUMENT' | 'UNAVAILABLE' | 'INTERNAL'): void;
  /** Records that a store over the network answered, or failed, after so many seconds. */
  storeAnswered(seconds: number, ok: boolean): void;
  /** Sets the limits in force, by counter. */
  owners(owners: CounterOwners): void;
};

/** Creates the metrics. `store` returns at each scrape what the counter store holds. */
export function createMetrics(store: () => CounterStoreStatus): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const answers = new Counter({
    name: 'gateway_ratelimit_answers_total',
    help: 'Answers to proxies by code',
    labelNames: ['code'],
    registers,
  });
  const seconds = new Histogram({
    name: 'gateway_ratelimit_store_seconds',
    help: 'Time until the shared counter store answered',
    labelNames: ['ok'],
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1],
    registers,
  });
  /** One that is not known has no series, since 0 would be a value. */
  const gauge = (name: string, help: string, read: () => number | undefined) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = read();
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  gauge('gateway_ratelimit_counters', 'Counters in memory', () => store().keys);
  gauge(
    'gateway_ratelimit_counters_max',
    'Most counters in memory (MAX_COUNTERS)',
    () => store().maxKeys,
  );
  gauge(
    'gateway_ratelimit_store_used_bytes',
    'Memory that the Redis of the counters uses',
    () => store().memory?.usedBytes,
  );
  gauge(
    'gateway_ratelimit_store_max_bytes',
    'maxmemory of the Redis of the counters, 0 for none',
    () => store().memory?.maxBytes,
  );
  gauge(
    'gateway_ratelimit_store_evicted_keys',
    'Keys that the Redis of the counters has evicted since it started',
    () => store().memory?.evicted,
  );
  let owned: CounterOwners = new Map();
  new Counter({
    name: 'gateway_ratelimit_counters_dropped_total',
    help: 'Counters in memory that were dropped because there were too many, by limit',
    labelNames: ['limit'],
    registers,
    collect() {
      this.reset();
      for (const [counter, { keys }] of store().dropped ?? [])
        this.inc({ limit: owned.get(counter)?.limit ?? 'other' }, keys);
    },
  });
  gauge(
    'gateway_ratelimit_store_waiting',
    'Requests that wait for the counter store',
    () => store().waiting,
  );
  return {
    registry,
    ...limitTallies(registry),
    owners: owners => {
      owned = owners;
    },
    answered: code => answers.inc({ code }),
    storeAnswered: (duration, ok) => seconds.observe({ ok: String(ok) }, duration),
  };
}
