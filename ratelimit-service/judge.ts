import type { Counts } from './counter-store.ts';
import type { Limit } from './limit.ts';
import type { Plan, PlannedGroup } from './plan.ts';
import { timeToReset } from './window.ts';

/** How a request stands to one limit that applies to it. */
export type LimitStatus = {
  readonly limit: Limit;
  /** This request is over the rate; of one that only looks, the next would be. */
  readonly exceeded: boolean;
  /** Not exceeded, and 80 % of the rate or more is used: a sign for operators. */
  readonly near: boolean;
  /** Requests left in this window, by the count and the rate; 0 when exceeded. */
  readonly remaining: number;
  /** Until the window ends, in ms. */
  readonly resetMs: number;
};

/**
 * One descriptor's: the limits that apply, in order, and the one to show; undefined when none
 * applies.
 */
export type GroupVerdict = {
  readonly statuses: readonly LimitStatus[];
  readonly shown: LimitStatus | undefined;
};

/** What is to be done with a request. */
export type Verdict = {
  /** An Enforce limit is exceeded. */
  readonly over: boolean;
  /** One for each descriptor, in order. */
  readonly groups: readonly GroupVerdict[];
  /**
   * The exceeded limit that metadata and answer tell of; undefined when none is exceeded. Enforce
   * when `over`.
   */
  readonly recorded: LimitStatus | undefined;
  /** Until all limits would let a request pass, LogOnly ones too, in ms; 0 when all do now. */
  readonly retryAfterMs: number;
};

/**
 * Judges a request by the counts that the store gave for the hits of its plan, in their order, at
 * the store's time. Request number rate + 1 of a window is over; rate 0 lets none pass. A hit that
 * only looks asks whether a request would pass now, so it is over as soon as nothing remains.
 * Recorded is the exceeded limit with the longest time until reset, but an Enforce limit rather
 * than a LogOnly one; the first of equals. Source: docs/reference/kinds/rate-limit.md; which limit
 * a descriptor shows: see shownOf.
 */
export function judge(plan: Plan, counts: Counts): Verdict {
  const groups = plan.groups.map(group => judgeGroup(group, plan, counts));
  const exceeded = groups.flatMap(({ statuses }) => statuses.filter(status => status.exceeded));
  const refusing = longest(exceeded.filter(isEnforced));
  return {
    over: refusing !== undefined,
    groups,
    recorded: refusing ?? longest(exceeded),
    retryAfterMs: longest(exceeded)?.resetMs ?? 0,
  };
}

/** Whether a limit refuses the request. */
export function refuses(status: LimitStatus | undefined): boolean {
  return status?.exceeded === true && isEnforced(status);
}

function judgeGroup({ limits, hits }: PlannedGroup, plan: Plan, counts: Counts): GroupVerdict {
  const statuses = limits.map((limit, at) => statusOf(limit, hits[at] ?? -1, plan, counts));
  return { statuses, shown: shownOf(statuses) };
}

function statusOf(limit: Limit, hit: number, plan: Plan, counts: Counts): LimitStatus {
  const count = counts.counts[hit];
  const add = plan.hits[hit]?.add;
  if (count === undefined || add === undefined)
    throw new Error(`the store gave no count for hit ${hit}`);
  const exceeded = add === 0 ? count >= limit.rate : count > limit.rate;
  return {
    limit,
    exceeded,
    near: !exceeded && count * 5 >= limit.rate * 4,
    remaining: Math.max(0, limit.rate - count),
    resetMs: timeToReset(counts.now, limit.unit),
  };
}

/**
 * The exceeded Enforce limit with the longest time until reset, else the limit with the least
 * remaining; the first of equals.
 */
function shownOf(statuses: readonly LimitStatus[]): LimitStatus | undefined {
  return longest(statuses.filter(refuses)) ?? first(statuses, (a, b) => a.remaining < b.remaining);
}

function longest(statuses: readonly LimitStatus[]): LimitStatus | undefined {
  return first(statuses, (a, b) => a.resetMs > b.resetMs);
}

function first(
  statuses: readonly LimitStatus[],
  isBefore: (a: LimitStatus, b: LimitStatus) => boolean,
): LimitStatus | undefined {
  let chosen: LimitStatus | undefined;
  for (const status of statuses)
    if (chosen === undefined || isBefore(status, chosen)) chosen = status;
  return chosen;
}

function isEnforced({ limit }: LimitStatus): boolean {
  return limit.action === 'Enforce';
}
