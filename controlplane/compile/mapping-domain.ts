import type { MappingMatch } from '#resources/kinds/mapping/mapping-match.ts';
import { canonicalPath } from '#resources/match/canonical-path.ts';
import { type Glob, parseGlob } from '#resources/match/glob.ts';

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

/** Returns a domain as requests and rules write it. An IPv6 address has brackets there. */
export function writtenDomain(domain: string): string {
  return domain.includes(':') ? `[${domain}]` : domain;
}

/** Returns a glob for the hosts of a domain, as rules write hosts. */
export function domainGlob(domain: string): Glob {
  return parseGlob(writtenDomain(domain));
}

/**
 * Returns a glob for all paths of a Mapping, and perhaps more. Rules for paths compare letter case.
 */
export function mappingPaths({
  case_sensitive,
  prefix,
  prefix_exact,
  prefix_regex,
}: Pick<MappingMatch, 'case_sensitive' | 'prefix' | 'prefix_exact' | 'prefix_regex'>): Glob {
  if (prefix_regex || !case_sensitive) return parseGlob('*');
  return parseGlob(`${canonicalPath(prefix)}${prefix_exact ? '' : '*'}`);
}
