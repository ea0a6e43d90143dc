import type { CounterStore, Counts } from './counter-store.ts';
import { judge, type Verdict } from './judge.ts';
import type { LimitIndex } from './limits-index.ts';
import { type Plan, planHits } from './plan.ts';
import type { RateLimitRequest } from './request.ts';
import { type Responded, respond } from './respond.ts';

/** What a request gets, and the verdict behind it, for log and metrics. */
export type Decision = Responded & { readonly verdict: Verdict };

/** The caller's mistake, in plain words: INVALID_ARGUMENT. */
export type InvalidRequest = { readonly invalid: string };

/** Of a request that no limit applies to, nothing is counted. The time is not read then. */
const NOTHING_COUNTED: Counts = { now: 0, counts: [] };

/**
 * Decides on one request: at once when nothing is to be counted or the store answers at once, else
 * by a promise. `requestId` is Envoy's, for error templates alone. Throws and rejects as the store
 * does.
 */
export function decide(
  index: LimitIndex,
  store: CounterStore,
  request: RateLimitRequest,
  requestId: string,
): Decision | InvalidRequest | Promise<Decision> {
  if (request.domain === '') return { invalid: 'domain is empty' };
  if (request.descriptors.length === 0) return { invalid: 'there are no descriptors' };
  const plan = planHits(request, index);
  if (plan.hits.length === 0) return conclude(plan, NOTHING_COUNTED, requestId);
  const counts = store.count(plan.hits);
  if ('then' in counts) return counts.then(counted => conclude(plan, counted, requestId));
  return conclude(plan, counts, requestId);
}

function conclude(plan: Plan, counts: Counts, requestId: string): Decision {
  const verdict = judge(plan, counts);
  return { ...respond(verdict, requestId), verdict };
}
