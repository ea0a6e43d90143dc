import { mappingDomain } from '#controlplane/compile/mapping-domain.ts';
import type { MappingMatch } from '#resources/kinds/mapping/mapping-match.ts';
import type { Region } from './region.ts';

/**
 * Returns the hosts and paths of a Mapping. An expression is as wide as the characters before its
 * first special one tell.
 */
export function regionOf(match: MappingMatch): Region {
  const { prefix, prefix_exact, prefix_regex } = match;
  const start = prefix_regex ? (/^[\w/~-]*/.exec(prefix)?.[0] ?? '').replace(/.$/, '') : prefix;
  return {
    host: mappingDomain(match),
    path: prefix_exact ? prefix : `${start.startsWith('/') ? start : '/'}*`,
  };
}

/** Returns the path of a Mapping for people. */
export function pathText({ prefix, prefix_exact, prefix_regex }: MappingMatch): string {
  if (prefix_regex) return `~ ${prefix}`;
  return prefix_exact ? prefix : `${prefix}*`;
}

/** Returns what requests must have beside host and path. Values may be credentials. */
export function conditionsOf(match: MappingMatch): readonly string[] {
  const { method, method_regex, headers, regex_headers, host_regex } = match;
  const { query_parameters, regex_query_parameters, precedence, case_sensitive } = match;
  return [
    ...(host_regex ? [`host ~ ${match.host}`] : []),
    ...(method === undefined ? [] : [`method ${method_regex ? '~ ' : ''}${method}`]),
    ...Object.keys({ ...headers, ...regex_headers }).map(name => `header ${name}`),
    ...Object.keys({ ...query_parameters, ...regex_query_parameters }).map(
      name => `parameter ${name}`,
    ),
    ...(case_sensitive ? [] : ['any letter case']),
    ...(precedence === 0 ? [] : [`precedence ${precedence}`]),
  ];
}
