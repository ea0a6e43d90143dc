import type { Decision } from './decide.ts';
import { judge } from './judge.ts';
import type { LimitIndex } from './limits-index.ts';
import { type PlannedGroup, planHits } from './plan.ts';
import type { RateLimitRequest } from './request.ts';
import { respond } from './respond.ts';

/**
 * Decides on a request that the store did not count. An Enforce limit of rate 0 refuses it, since
 * such a limit lets none pass whatever its counter holds. Other limits are left out of the answer.
 * `now` is milliseconds since the epoch, by the clock of this process.
 * @returns undefined when only a count could tell
 */
export function refuseUncounted(
  index: LimitIndex,
  request: RateLimitRequest,
  requestId: string,
  now: number,
): Decision | undefined {
  const plan = planHits(request, index);
  const closed = { ...plan, groups: plan.groups.map(ofRateZero) };
  const verdict = judge(closed, { now, counts: plan.hits.map(({ add }) => add) });
  return verdict.over ? { ...respond(verdict, requestId), verdict } : undefined;
}

function ofRateZero({ limits, hits }: PlannedGroup): PlannedGroup {
  const isKept = limits.map(({ rate }) => rate === 0);
  return {
    limits: limits.filter((_, at) => isKept[at]),
    hits: hits.filter((_, at) => isKept[at]),
  };
}
