import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * The result of a request at one limit. `near_limit` is within it, with 80 % or more of it used.
 */
const OUTCOMES = ['within_limit', 'near_limit', 'over_limit', 'over_limit_log_only'] as const;
export type LimitOutcome = (typeof OUTCOMES)[number];

/** More limits than this are counted together as `other`, so that a scrape stays small. */
const MAX_NAMES = 1_000;
const OTHER = 'other';

type Tally = Record<LimitOutcome | 'template_failures', number>;

/** What is counted for each limit. */
export type LimitTallies = {
  /** Sets the names of the limits in force. Only they are shown. */
  limits(names: Iterable<string>): void;
  decided(limit: string, outcome: LimitOutcome): void;
  templateFailed(limit: string): void;
  /** Returns the counts since the process began, by limit. */
  tallies(): ReadonlyMap<string, Readonly<Record<LimitOutcome, number>>>;
};

/** Counts here, and copies the counts to the registry at each scrape. */
export function limitTallies(registry: Registry): LimitTallies {
  let tallies: ReadonlyMap<string, Tally> = new Map();
  let names = 0;
  const tallyOf = (limit: string): Tally => tallies.get(limit) ?? tallies.get(OTHER) ?? noTally();
  register(registry, () => ({ tallies, names }));
  return {
    tallies: () => tallies,
    limits(all) {
      const distinct = [...new Set(all)];
      names = distinct.length;
      const shown =
        distinct.length > MAX_NAMES ? [...distinct.slice(0, MAX_NAMES), OTHER] : distinct;
      tallies = new Map(shown.map(limit => [limit, tallies.get(limit) ?? noTally()]));
    },
    decided(limit, outcome) {
      tallyOf(limit)[outcome] += 1;
    },
    templateFailed(limit) {
      tallyOf(limit).template_failures += 1;
    },
  };
}

function noTally(): Tally {
  return {
    within_limit: 0,
    near_limit: 0,
    over_limit: 0,
    over_limit_log_only: 0,
    template_failures: 0,
  };
}

type Tallied = { readonly tallies: ReadonlyMap<string, Tally>; readonly names: number };

function register(registry: Registry, tallied: () => Tallied): void {
  const registers = [registry];
  new Counter({
    name: 'gateway_ratelimit_decisions_total',
    help: 'Decisions by limit and outcome, near_limit from 80 % of the rate on',
    labelNames: ['limit', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const [limit, tally] of tallied().tallies) {
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
      for (const [limit, { template_failures }] of tallied().tallies) {
        if (template_failures > 0) this.inc({ limit }, template_failures);
      }
    },
  });
  new Gauge({
    name: 'gateway_ratelimit_limits',
    help: 'Limits in force',
    aggregator: 'max',
    registers,
    collect() {
      this.set(tallied().names);
    },
  });
}
