import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What became of a request at one limit. `near_limit`: within it, with 80 % or more of it used. */
export const OUTCOMES = ['within_limit', 'near_limit', 'over_limit', 'over_limit_log_only'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export type Metrics = {
  readonly registry: Registry;
  /** The names of the limits in force: no others are ever shown. */
  limits(names: Iterable<string>): void;
  decided(limit: string, outcome: Outcome): void;
  answered(code: 'OK' | 'OVER_LIMIT' | 'INVALID_ARGUMENT' | 'UNAVAILABLE' | 'INTERNAL'): void;
  templateFailed(limit: string): void;
  /** A store that is asked over a network has answered, or failed, after so many seconds. */
  storeAnswered(seconds: number, ok: boolean): void;
};

/** More limits than this are counted together as `other`, so that a scrape stays small. */
const MAX_NAMES = 1_000;
const OTHER = 'other';

type Tally = Record<Outcome | 'template_failures', number>;

/** `store` tells at each scrape what the counter store holds. */
export function createMetrics(store: () => { readonly keys?: number; readonly waiting: number }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  let tallies = new Map<string, Tally>();
  let names = 0;
  const tallyOf = (limit: string): Tally => tallies.get(limit) ?? tallies.get(OTHER) ?? noTally();

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
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05],
    registers,
  });
  new Counter({
    name: 'gateway_ratelimit_decisions_total',
    help: 'Decisions by limit and outcome; near_limit is 80 % or more of the rate',
    labelNames: ['limit', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const [limit, tally] of tallies) {
        for (const outcome of OUTCOMES) this.inc({ limit, outcome }, tally[outcome]);
      }
    },
  });
  new Counter({
    name: 'gateway_ratelimit_template_failures_total',
    help: 'Templates that failed when a request needed them, by limit',
    labelNames: ['limit'],
    registers,
    collect() {
      this.reset();
      for (const [limit, { template_failures }] of tallies) {
        if (template_failures > 0) this.inc({ limit }, template_failures);
      }
    },
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
  new Gauge({
    name: 'gateway_ratelimit_limits',
    help: 'Limits in force',
    aggregator: 'max',
    registers,
    collect() {
      this.set(names);
    },
  });
  gauge('gateway_ratelimit_counters', 'Counters in memory', () => store().keys);
  gauge('gateway_ratelimit_store_waiting', 'Requests that wait for the counter store', () => store().waiting);

  return {
    registry,
    limits(all) {
      const distinct = [...new Set(all)];
      names = distinct.length;
      const shown = distinct.length > MAX_NAMES ? [...distinct.slice(0, MAX_NAMES), OTHER] : distinct;
      tallies = new Map(shown.map(limit => [limit, tallies.get(limit) ?? noTally()]));
    },
    decided(limit, outcome) {
      tallyOf(limit)[outcome] += 1;
    },
    answered: code => answers.inc({ code }),
    templateFailed(limit) {
      tallyOf(limit).template_failures += 1;
    },
    storeAnswered: (duration, ok) => seconds.observe({ ok: String(ok) }, duration),
  };
}

function noTally(): Tally {
  return { within_limit: 0, near_limit: 0, over_limit: 0, over_limit_log_only: 0, template_failures: 0 };
}
