import { defaultLimitName } from '#resources/kinds/rate-limit/default-limit-name.ts';
import type { Resource } from '#resources/resource.ts';

/** Returns the names of a RateLimit's limits. */
export function limitNames(rateLimit: Resource<'RateLimit'>): readonly string[] {
  return rateLimit.spec.limits.map(({ name }, index) => name ?? defaultLimitName(rateLimit, index));
}
