import { protectedOriginsOf } from '#resources/kinds/filter/filter-oauth2-origins.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { InternalOrigins } from '#resources/words/origin-pattern.ts';

/**
 * Returns the protected origins of all Filters, in the form that requests have. Those of Filters
 * that are not in force count too: their paths are closed.
 */
export function internalOrigins({ filters }: ResourceSet): readonly InternalOrigins[] {
  return filters.flatMap(({ spec: { OAuth2 } }) =>
    OAuth2 === undefined ? [] : protectedOriginsOf(OAuth2),
  );
}

/**
 * Returns whether a request in the virtual host of this domain may have a protected origin. It is
 * true when in doubt.
 */
export function originMayMeet(
  { internalOrigin, includeSubdomains }: InternalOrigins,
  domain: string,
): boolean {
  const { host } = internalOrigin;
  if (host === '*' || domain === '*') return true;
  const below = (name: string) => includeSubdomains && name.endsWith(`.${host}`);
  if (!domain.startsWith('*')) return domain === host || below(domain);
  const suffix = domain.slice(1);
  return host.endsWith(suffix) || below(suffix);
}
