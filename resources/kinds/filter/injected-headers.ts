import { headerIdentity } from '#resources/words/header-identity.ts';
import type { FilterSpec } from './filter.ts';

type Filter = { readonly spec: FilterSpec };

/** Returns the names of the headers that a Filter may set, in lower case. */
export function injectedBy({ spec: { OAuth2, JWT } }: Filter): readonly string[] {
  return (OAuth2 ?? JWT)?.injectRequestHeaders.map(({ name }) => name.toLowerCase()) ?? [];
}

/**
 * Returns the identities of all headers that a Filter may set. An OAuth2 filter may set
 * `Authorization` too.
 */
export function headersSetBy(filter: Filter): readonly string[] {
  const names = injectedBy(filter).map(headerIdentity);
  return filter.spec.OAuth2 === undefined ? names : [...names, 'authorization'];
}
