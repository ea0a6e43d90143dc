import type { Limit, RateLimitSpec } from '#resources/kinds/rate-limit/rate-limit-spec.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { headerIdentity } from '#resources/words/header-identity.ts';
import { problemOf } from '../problem-of.ts';
import { limitField } from './limit-field.ts';
import type { TakenHeaders } from './taken-headers.ts';

type Header = Limit['injectRequestHeaders'][number];

const NONE: TakenHeaders = new Map();

/** Returns the taken headers of the RateLimit's domain. */
export function takenIn(
  { domain }: RateLimitSpec,
  taken: ReadonlyMap<string, TakenHeaders>,
): TakenHeaders {
  return taken.get(domain) ?? NONE;
}

/**
 * Returns the request headers that a limit sets: all that it lists but the taken ones. The limit
 * itself stays in force without them.
 */
export function injectedHeaders(
  { injectRequestHeaders }: Limit,
  taken: TakenHeaders,
): readonly Header[] {
  return injectRequestHeaders.filter(({ name }) => !taken.has(headerIdentity(name)));
}

/**
 * Returns the sorted names of headers that are removed from what clients send: those that these
 * limits may set, and those that an upstream may take for them. Limits that set a header only
 * sometimes count too, since the client's would pass at the other times.
 */
export function gatewayHeaders(
  rateLimits: readonly Resource<'RateLimit'>[],
  taken: ReadonlyMap<string, TakenHeaders>,
): readonly string[] {
  const names = new Set<string>();
  for (const { spec } of rateLimits) {
    for (const limit of spec.limits) {
      for (const { name } of injectedHeaders(limit, takenIn(spec, taken))) {
        names.add(name.toLowerCase()).add(headerIdentity(name));
      }
    }
  }
  return [...names].sort();
}

/** Returns one error for each taken header that a limit would set. */
export function takenHeaderProblems(
  rateLimit: Resource<'RateLimit'>,
  taken: TakenHeaders,
): readonly Problem[] {
  return rateLimit.spec.limits.flatMap((limit, index) =>
    limit.injectRequestHeaders.flatMap(({ name }, header) => {
      const reason = taken.get(headerIdentity(name));
      if (reason === undefined) return [];
      const field = `${limitField(rateLimit, index)}.injectRequestHeaders[${header}].name`;
      const message = `"${name}" is left out, the limit is in force without it: ${reason}. Choose another name`;
      return [problemOf(rateLimit, 'error', field, message)];
    }),
  );
}
