import type { CounterStore, Counts } from './counter-store.ts';
import { judge, type RequestVerdict } from './judge.ts';
import type { LimitIndex } from './limits-index.ts';
import { type Plan, planHits } from './plan.ts';
import type { RateLimitRequest } from './request.ts';
import { type Responded, respond } from './respond.ts';

import type { TopKeys } from './top-keys.ts';

/** What a request gets, with the verdict behind it for the log and metrics. */
export type Decision = Responded & { readonly verdict: RequestVerdict };

/** The client's mistake, in plain words. It is answered with INVALID_ARGUMENT. */
export type InvalidRequest = { readonly invalid: string };

/** For a request that no limit applies to. Nothing is counted, and nobody reads the time then. */
const NOTHING_COUNTED: Counts = { now: 0, counts: [] };

/**
 * Decides on one request. Returns the decision when nothing is counted or the store answers without
 * a round trip, else a promise of it. `requestId` is Envoy's, for error templates alone. Throws and
 * rejects as the store does.
 */
export function decide(
  index: LimitIndex,
  store: CounterStore,
  request: RateLimitRequest,
  requestId: string,
  top?: Pick<TopKeys, 'counted'>,
): Decision | InvalidRequest | Promise<Decision> {
  if (request.domain === '') return { invalid: 'domain is empty' };
  if (request.descriptors.length === 0) return { invalid: 'there are no descriptors' };
  const plan = planHits(request, index);
  if (plan.hits.length === 0) return conclude(plan, NOTHING_COUNTED, requestId);
  const counts = store.count(plan.hits);
  const counted = (all: Counts) => {
    top?.counted(plan.hits, all);
    return conclude(plan, all, requestId);
  };
  return 'then' in counts ? counts.then(counted) : counted(counts);
}

function conclude(plan: Plan, counts: Counts, requestId: string): Decision {
  const verdict = judge(plan, counts);
  return { ...respond(verdict, requestId), verdict };
}
