import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ClosedRule } from '#ext-authz/chain/active-rules.ts';
import type { Fault } from '#ext-authz/chain/fault.ts';

/**
 * The results of checks. `gateway` is one of the gateway's own paths, `closed` a rule whose Filter
 * is missing. For `ambiguous` see policy.ts.
 */
const CHECK_OUTCOMES = [
  'no_rule',
  'allowed',
  'answered',
  'gateway',
  'closed',
  'ambiguous',
  'malformed',
  'failed',
  'timeout',
  'not_ready',
] as const;
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number];

export type FilterOutcome = 'allow' | 'answer' | Fault;

export type Metrics = {
  readonly registry: Registry;
  /** Sets what is in force. No other names are ever shown. */
  inForce(filters: Iterable<string>, rules: number, closed: Iterable<ClosedRule>): void;
  checked(outcome: CheckOutcome, seconds: number): void;
  ran(filter: string, outcome: FilterOutcome): void;
};

/** More names than this are counted together as `other`, so that a scrape stays small. */
const MAX_NAMES = 1_000;
const OTHER = 'other';

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const checks = new Map<string, number>(CHECK_OUTCOMES.map(outcome => [outcome, 0]));
  new Counter({
    name: 'gateway_ext_authz_checks_total',
    help: 'Checks by result',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of checks) this.inc({ outcome }, count);
    },
  });
  const seconds = new Histogram({
    name: 'gateway_ext_authz_check_seconds',
    help: 'Time that a check took',
    buckets: [0.0002, 0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 4],
    registers,
  });
  const runs = new Map<string, Map<string, number>>();
  new Counter({
    name: 'gateway_ext_authz_filter_outcomes_total',
    help: 'What Filters did with requests, by Filter',
    labelNames: ['filter', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const [filter, counts] of runs)
        for (const [outcome, count] of counts) this.inc({ filter, outcome }, count);
    },
  });
  const rulesInForce = new Gauge({
    name: 'gateway_ext_authz_rules',
    help: 'Rules of FilterPolicies in force',
    aggregator: 'max',
    registers,
  });
  const closedRules = new Gauge({
    name: 'gateway_ext_authz_closed_paths',
    help: 'Rules whose paths answer 500 because a Filter is missing, the first 1,000 by name',
    labelNames: ['rule', 'host', 'path', 'filter'],
    aggregator: 'max',
    registers,
  });
  let names: ReadonlySet<string> = new Set();

  return {
    registry,
    inForce(filters, rules, closed) {
      names = new Set([...filters].slice(0, MAX_NAMES));
      rulesInForce.set(rules);
      closedRules.reset();
      for (const { rule, filter } of [...closed].slice(0, MAX_NAMES))
        closedRules.set({ rule: rule.id, host: rule.host, path: rule.path, filter }, 1);
    },
    checked(outcome, duration) {
      count(checks, outcome);
      seconds.observe(duration);
    },
    ran(filter, outcome) {
      const name = names.has(filter) ? filter : OTHER;
      const counts = runs.get(name) ?? new Map<string, number>();
      runs.set(name, counts);
      count(counts, outcome);
    },
  };
}

/**
 * Counts here, and tells the library at a scrape. The library finds a counter by its labels at the
 * cost of a whole decision.
 */
function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
