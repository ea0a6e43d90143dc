import type { Compiled } from '#controlplane/compile/compiled.ts';
import { rateLimitMessageName } from '#controlplane/compile/rate-limits/rate-limit-message.ts';
import type { Message } from '#protos/decode-bytes.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import type { Limit } from '#ratelimit-service/limit.ts';
import { parseLimits } from '#ratelimit-service/parse-limits.ts';
import type { Limit as LimitSpec } from '#resources/kinds/rate-limit/rate-limit-spec.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';

/** A limit as the service reads it, and as the operator writes it. */
export type OperatorLimit = {
  readonly limit: Limit;
  readonly spec: LimitSpec;
  readonly rateLimit: Resource<'RateLimit'>;
  readonly index: number;
};

/**
 * Returns all limits of all domains, in the order of the rate limit service. `compiled` is what its
 * node group gets.
 */
export function operatorLimits(
  resources: ResourceSet,
  compiled: Compiled,
): readonly OperatorLimit[] {
  const byName = new Map(
    resources.rateLimits.map(resource => [rateLimitMessageName(resource), resource]),
  );
  const messages = compiled.resources.get(RATE_LIMIT) ?? [];
  return messages.flatMap(({ name, json }) => {
    const rateLimit = byName.get(name);
    const parsed = parseLimits(json as Message);
    if (rateLimit === undefined || 'error' in parsed)
      throw new Error(
        `RateLimit ${name} does not reach the service: ${'error' in parsed ? parsed.error : name}`,
      );
    return parsed.value.flatMap((limit, index) => {
      const spec = rateLimit.spec.limits[index];
      return spec === undefined ? [] : [{ limit, spec, rateLimit, index }];
    });
  });
}
