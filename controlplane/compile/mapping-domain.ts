import type { MappingMatch } from '#resources/kinds/mapping/mapping-match.ts';

/**
 * Returns the domain of the virtual hosts that a Mapping is for: `*`, a wildcard or a host. A host
 * that is an expression may be any.
 */
export function mappingDomain({
  host,
  host_regex,
}: Pick<MappingMatch, 'host' | 'host_regex'>): string {
  return host_regex ? '*' : host;
}
