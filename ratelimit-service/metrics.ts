import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type LimitTallies, limitTallies } from './limit-tallies.ts';

export type Metrics = LimitTallies & {
  readonly registry: Registry;
  answered(code: 'OK' | 'OVER_LIMIT' | 'INVALID_ARGUMENT' | 'UNAVAILABLE' | 'INTERNAL'): void;
  /** A store that is asked over a network has answered, or failed, after so many seconds. */
  storeAnswered(seconds: number, ok: boolean): void;
};

/** `store` tells at each scrape what the counter store holds. */
export function createMetrics(store: () => { readonly keys?: number; readonly waiting: number }): Metrics {
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
  const gauge = (name: string, help: string, read: () => number | undefined) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = read();
        if (value !== undefined) this.set(value);
      },
    });
  gauge('gateway_ratelimit_counters', 'Counters in memory', () => store().keys);
  gauge('gateway_ratelimit_store_waiting', 'Requests that wait for the counter store', () => store().waiting);
  return {
    registry,
    ...limitTallies(registry),
    answered: code => answers.inc({ code }),
    storeAnswered: (duration, ok) => seconds.observe({ ok: String(ok) }, duration),
  };
}
