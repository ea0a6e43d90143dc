import type { Json, JsonObject } from '#protos/json.ts';
import type { MappingMatch } from '#resources/kinds/mapping/mapping-match.ts';
import { compareText } from '#resources/words/order.ts';
import { authorityIs, authorityMatches, hostMatches } from '../authority-match.ts';
import { mappingDomain } from '../mapping-domain.ts';
import type { RouteRank } from './route-entry.ts';

/**
 * Returns Envoy's `RouteMatch` of a Mapping. The host is the virtual host's part. An expression is
 * not, since no virtual host can have one.
 */
export function toRouteMatch(match: MappingMatch): JsonObject {
  const headers = [...hostMatchers(match), ...headerMatchers(match)];
  const query_parameters = queryMatchers(match);
  return {
    ...pathMatch(match),
    ...(isAnyCase(match) ? { case_sensitive: false } : {}),
    ...(headers.length === 0 ? {} : { headers }),
    ...(query_parameters.length === 0 ? {} : { query_parameters }),
  };
}

/** Returns a key. Mappings with equal keys match the same requests, and share one route. */
export function matchKey(match: MappingMatch): string {
  return JSON.stringify([mappingDomain(match), match.precedence, toRouteMatch(match)]);
}

export function toRank(match: MappingMatch, id: string): RouteRank {
  return {
    precedence: match.precedence,
    exact: match.prefix_exact,
    length: match.prefix.length,
    conditions: headerMatchers(match).length + queryMatchers(match).length,
    ...(isAnyCase(match) ? { anyCase: true } : {}),
    host: mappingDomain(match),
    ...(match.host_regex ? { hostRegex: true } : {}),
    id,
  };
}

/** Returns whether Envoy matches paths in any letter case. For expressions it never does. */
export function isAnyCase({ case_sensitive, prefix_regex }: MappingMatch): boolean {
  return !case_sensitive && !prefix_regex;
}

function pathMatch({ prefix, prefix_exact, prefix_regex }: MappingMatch): JsonObject {
  if (prefix_regex) return { safe_regex: { regex: prefix } };
  return prefix_exact ? { path: prefix } : { prefix };
}

function hostMatchers({ host, host_regex }: MappingMatch): readonly Json[] {
  return host_regex ? [hostMatches(host)] : [];
}

function headerMatchers({
  method,
  method_regex,
  headers,
  regex_headers,
}: MappingMatch): readonly Json[] {
  const methods = method === undefined ? {} : { ':method': method };
  return [
    ...(method_regex ? named(methods, expression) : named(methods, exact)),
    ...onHeaders(headers, exact, authorityIs),
    ...onHeaders(regex_headers, expression, authorityMatches),
  ];
}

/** Returns conditions on headers. The one on the host leaves the port out. */
function onHeaders<T extends string | true>(
  matches: Readonly<Record<string, T>>,
  toMatcher: (value: T) => JsonObject,
  toHostMatcher: (value: string) => JsonObject,
): readonly Json[] {
  return named(matches, (value, name) =>
    name === ':authority' && value !== true ? toHostMatcher(value) : toMatcher(value),
  );
}

function queryMatchers({
  query_parameters,
  regex_query_parameters,
}: MappingMatch): readonly Json[] {
  return [...named(query_parameters, exact), ...named(regex_query_parameters, expression)];
}

function named<T>(
  matches: Readonly<Record<string, T>>,
  toMatcher: (value: T, name: string) => JsonObject,
): readonly Json[] {
  return Object.entries(matches)
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, value]) => ({ name, ...toMatcher(value, name) }));
}

function exact(value: string | true): JsonObject {
  return value === true ? { present_match: true } : { string_match: { exact: value } };
}

function expression(regex: string): JsonObject {
  return { string_match: { safe_regex: { regex } } };
}
