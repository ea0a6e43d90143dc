import { headerIdentity } from '#resources/words/header-identity.ts';
import type { FilterSpec } from './filter.ts';

type Filter = { readonly spec: FilterSpec };

/** Returns the names of the headers that a Filter may set, in lower case. */
export function injectedBy({ spec: { OAuth2, JWT } }: Filter): readonly string[] {
  return (OAuth2 ?? JWT)?.injectRequestHeaders.map(({ name }) => name.toLowerCase()) ?? [];
}

/** Another Filter, in the namespace of the one that names it unless it says otherwise. */
export type FilterName = { readonly name: string; readonly namespace?: string };

/**
 * Returns the Filter that an OAuth2 Filter passes access tokens to, if there is one. Its headers
 * are set with those of the OAuth2 Filter.
 */
export function delegateOf({ spec: { OAuth2 } }: Filter): FilterName | undefined {
  return OAuth2?.accessTokenJWTFilter;
}

/**
 * Returns the identities of all headers that a Filter may set. An OAuth2 filter may set
 * `Authorization` too.
 */
export function headersSetBy(filter: Filter): readonly string[] {
  const names = injectedBy(filter).map(headerIdentity);
  return filter.spec.OAuth2 === undefined ? names : [...names, 'authorization'];
}
