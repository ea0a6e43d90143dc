import type { Counts } from './counter-store.ts';
import type { Limit } from './limit.ts';
import type { Plan, PlannedGroup } from './plan.ts';
import { timeToReset } from './window.ts';

/** Where a request stands at one limit that applies to it. */
export type LimitStatus = {
  readonly limit: Limit;
  /** This request is over the rate. If it only looks, the next request would be. */
  readonly exceeded: boolean;
  /** Not exceeded, and 80 % of the rate or more is used. Metrics show it to operators. */
  readonly near: boolean;
  /** Requests left in this window, by the count and the rate. 0 when exceeded. */
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly resetMs: number;
};

/**
 * The limits that apply to one descriptor, in order, and the one to show. `shown` is undefined when
 * none applies.
 */
export type GroupVerdict = {
  readonly statuses: readonly LimitStatus[];
  readonly shown: LimitStatus | undefined;
};

/** The decision on a request. */
export type RequestVerdict = {
  /** Whether an Enforce limit is exceeded. */
  readonly over: boolean;
  /** One for each descriptor, in order. */
  readonly groups: readonly GroupVerdict[];
  /**
   * The exceeded limit that metadata and answer report. Undefined when none is exceeded. An Enforce
   * limit when `over`.
   */
  readonly recorded: LimitStatus | undefined;
  /**
   * Milliseconds until all limits would let a request pass, LogOnly ones too. 0 when all do now.
   */
  readonly retryAfterMs: number;
};

/**
 * Judges a request by the counts that the store gave for the hits of its plan. They are in the
 * plan's order, at the store's time.
 *
 * - Request number rate + 1 of a window is over. Rate 0 lets none pass.
 * - A hit that only looks asks whether a request would pass now. It is over as soon as nothing
 *   remains.
 * - The recorded limit is the exceeded one with the longest time until reset. An Enforce limit goes
 *   before a LogOnly one, and the first of equals wins.
 *
 * See docs/reference/kinds/rate-limit.md, and `shownOf` for which limit a descriptor shows.
 */
export function judge(plan: Plan, counts: Counts): RequestVerdict {
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

/** Tells whether a limit rejects the request. */
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
 * Returns the exceeded Enforce limit with the longest time until reset, else the limit with the
 * least remaining. The first of equals wins.
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
