import { prefixOf } from '#controlplane/gateway-api/path-prefix.ts';
import type { Json, JsonObject } from '#protos/json.ts';
import type { GrpcRouteMatch } from '#resources/kinds/grpc-route/grpc-route-spec.ts';
import type { HttpRouteMatch } from '#resources/kinds/http-route/http-route-spec.ts';
import { quoteRegex } from '../quote-regex.ts';
import type { ServedRank } from './served-rank.ts';

/** One match of a rule: Envoy's `RouteMatch`, and what ranks it. */
export type ServedMatch = {
  readonly match: JsonObject;
  /** The prefix that the match has, which a rewrite or redirect may replace. */
  readonly prefix: string | undefined;
  readonly rank: Pick<ServedRank, 'path' | 'length' | 'hasMethod' | 'headers' | 'query'>;
};

type Condition = {
  readonly type: 'Exact' | 'RegularExpression';
  readonly name: string;
  readonly value: string;
};

/** Returns the match of an HTTPRoute. A prefix ends at a slash. */
export function httpMatch({ headers, method, path, queryParams }: HttpRouteMatch): ServedMatch {
  const conditions = first(headers, name => name.toLowerCase());
  const parameters = first(queryParams, name => name);
  const prefix = path.type === 'PathPrefix' ? prefixOf(path.value) : undefined;
  return {
    match: {
      ...pathMatch(path),
      ...list('headers', [
        ...(method === undefined ? [] : [{ name: ':method', string_match: { exact: method } }]),
        ...conditions,
      ]),
      ...list('query_parameters', parameters),
    },
    prefix,
    rank: {
      path: PATH_RANKS[path.type],
      length: (prefix ?? path.value).length,
      hasMethod: method !== undefined,
      headers: conditions.length,
      query: parameters.length,
    },
  };
}

/**
 * Returns the match of preflights for a rule with CORS that matches one method. They are OPTIONS,
 * and no backend may get them. Source: GEP-1767 of Gateway API.
 * @returns undefined when the match itself is theirs
 */
export function preflightMatch(match: HttpRouteMatch): ServedMatch | undefined {
  const { headers, method } = match;
  if (method === undefined || method === 'OPTIONS') return undefined;
  const asked = [
    { type: 'RegularExpression', name: 'Origin', value: '.+' },
    { type: 'Exact', name: 'Access-Control-Request-Method', value: method },
  ] as const;
  const served = httpMatch({ ...match, method: 'OPTIONS', headers: [...headers, ...asked] });
  return { ...served, rank: httpMatch(match).rank };
}

const PATH_RANKS = {
  Exact: 'exact',
  PathPrefix: 'prefix',
  RegularExpression: 'expression',
} as const;

function pathMatch({ type, value }: HttpRouteMatch['path']): JsonObject {
  if (type === 'Exact') return { path: value };
  if (type === 'RegularExpression') return { safe_regex: { regex: value } };
  const prefix = prefixOf(value);
  return prefix === '' ? { prefix: '/' } : { path_separated_prefix: prefix };
}

/** Returns the match of a GRPCRoute. */
export function grpcMatch({ headers, method }: GrpcRouteMatch): ServedMatch {
  const conditions = first(headers, name => name.toLowerCase());
  const { type = 'Exact', service = '', method: call = '' } = method ?? {};
  return {
    match: { ...callMatch(type, service, call), grpc: {}, ...list('headers', conditions) },
    prefix: undefined,
    rank: {
      path: service + call === '' ? 'prefix' : type === 'Exact' ? 'exact' : 'expression',
      // The service counts before the call. Source: Gateway API's comment of `matches`.
      length: service.length * (LONGEST_CALL + 1) + call.length,
      hasMethod: call !== '',
      headers: conditions.length,
      query: 0,
    },
  };
}

const LONGEST_CALL = 1024;

function callMatch(type: Condition['type'], service: string, call: string): JsonObject {
  if (service === '' && call === '') return { prefix: '/' };
  if (type === 'Exact' && call === '') return { prefix: `/${service}/` };
  if (type === 'Exact' && service !== '') return { path: `/${service}/${call}` };
  const part = (text: string) => {
    if (text === '') return '[^/]+';
    return type === 'Exact' ? quoteRegex(text) : `(?:${text})`;
  };
  return { safe_regex: { regex: `/${part(service)}/${part(call)}` } };
}

/** Of several conditions on one name the first counts. */
function first(
  conditions: readonly Condition[],
  identity: (name: string) => string,
): readonly JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const { name, type, value } of conditions) {
    if (found.has(identity(name))) continue;
    const matcher = type === 'Exact' ? { exact: value } : { safe_regex: { regex: value } };
    found.set(identity(name), { name: identity(name), string_match: matcher });
  }
  return [...found.values()];
}

function list(name: string, items: readonly Json[]): JsonObject {
  return items.length === 0 ? {} : { [name]: items };
}
