import type { Json, JsonObject } from '#protos/json.ts';
import type { MappingMatch } from '#resources/mapping.ts';
import { compareText } from '../order.ts';
import type { RouteRank } from './route-entry.ts';

/** Envoy's `RouteMatch` of a Mapping; its host is the virtual host's part. */
export function toRouteMatch(match: MappingMatch): JsonObject {
  const headers = headerMatchers(match);
  return { ...pathMatch(match), ...(headers.length === 0 ? {} : { headers }) };
}

/** Mappings of equal key match the same requests: they share one route. */
export function matchKey(match: MappingMatch): string {
  const { host, precedence } = match;
  return JSON.stringify([host, precedence, toRouteMatch(match)]);
}

export function toRank(match: MappingMatch, id: string): RouteRank {
  return {
    precedence: match.precedence,
    exact: match.prefix_exact,
    length: match.prefix.length,
    conditions: headerMatchers(match).length,
    host: match.host,
    id,
  };
}

function pathMatch({ prefix, prefix_exact, prefix_regex }: MappingMatch): JsonObject {
  if (prefix_regex) return { safe_regex: { regex: prefix } };
  return prefix_exact ? { path: prefix } : { prefix };
}

function headerMatchers({ method, headers }: MappingMatch): readonly Json[] {
  const named = Object.entries(headers).sort(([a], [b]) => compareText(a, b));
  const all: [string, string | true][] = method === undefined ? named : [[':method', method], ...named];
  return all.map(([name, value]) =>
    value === true ? { name, present_match: true } : { name, string_match: { exact: value } },
  );
}
