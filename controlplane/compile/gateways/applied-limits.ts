import type { ServedGateway } from '#controlplane/gateway-api/served-gateway.ts';
import { hasTargets } from '#controlplane/gateway-api/targeted-policies.ts';
import type { Resource } from '#resources/resource.ts';
import type { Memo } from '../memo.ts';

/**
 * Returns the RateLimits that requests may meet: those without targets, and those with a target
 * that a Gateway here serves. What the others say of labels and headers must not change what others
 * limit, or anybody could do so who may write a RateLimit in some namespace.
 */
export function appliedLimits(
  rateLimits: readonly Resource<'RateLimit'>[],
  gateways: readonly ServedGateway[],
  memo: Memo,
): readonly Resource<'RateLimit'>[] {
  if (!rateLimits.some(hasTargets)) return rateLimits;
  const met = new Set(
    gateways.flatMap(gateway => memo.of(gateway, 'limits of routes', [], () => limitsOf(gateway))),
  );
  return rateLimits.filter(limit => !hasTargets(limit) || met.has(limit.id));
}

function limitsOf({ listeners }: ServedGateway): readonly string[] {
  type Rule = { readonly limits: readonly Resource<'RateLimit'>[] };
  const rules = listeners.flatMap(({ routes }) =>
    routes.flatMap(({ rules }): readonly Rule[] => rules),
  );
  return [...new Set(rules.flatMap(({ limits }) => limits.map(({ id }) => id)))];
}
