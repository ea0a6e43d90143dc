import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import { ONE_READING } from '#resources/match/canonical-path.ts';
import type { Glob } from '#resources/match/glob.ts';
import { CREDENTIAL_HEADERS } from '#resources/words/reserved-headers.ts';
import type { AskedPaths } from '../ext-authz/asked-paths.ts';
import { hasFilterSettings, WITHOUT_FILTERS } from '../ext-authz/ext-authz-filter.ts';
import type { Memo } from '../memo.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import { quoteRegex } from '../quote-regex.ts';
import { eachRoute } from './each-route.ts';

/**
 * Returns the routes of a virtual host where rules may match. Before each of which some paths lie
 * outside every rule, it puts the same route without the Filter service, for these paths alone.
 * See docs/adr/0011-ext-authz.md.
 */
export function withPublicRoutes(
  routes: readonly JsonObject[],
  asked: AskedPaths,
  memo: Memo,
): readonly JsonObject[] {
  const make = (route: JsonObject) => [publicRoute(route, asked) ?? [], route].flat();
  return eachRoute(routes, { what: 'public routes', owner: asked, make }, memo);
}

function publicRoute(route: JsonObject, asked: AskedPaths): JsonObject | undefined {
  const { match } = route;
  if (!isJsonObject(match) || hasFilterSettings(route) || route.direct_response !== undefined)
    return undefined;
  const paths = pathsOf(match);
  const apart = PLAIN.test(paths.prefix) ? asked(paths) : undefined;
  if (apart === undefined) return undefined;
  const headers: readonly Json[] = [
    ...startsWith(paths.prefix),
    IN_ONE_READING,
    ...apart.map(outside),
    ...NOTHING_TO_REMOVE,
    ...objectsIn(match.headers),
  ];
  return { ...route, match: { ...match, headers }, ...perFilterConfig(route, WITHOUT_FILTERS) };
}

/** `:path` has the query. */
const QUERY = '(?:\\?.*)?';

export const PLAIN = new RegExp(`^${ONE_READING}*$`);

/** Returns a glob for all paths that a route may match, and perhaps more. */
export function pathsOf({ case_sensitive, path, path_separated_prefix, prefix }: JsonObject): Glob {
  const isAny = case_sensitive === false;
  if (typeof path === 'string' && !isAny) return { prefix: path, inner: [] };
  const start = isAny ? undefined : (prefix ?? path_separated_prefix);
  return { prefix: typeof start === 'string' ? start : '/', inner: [], suffix: '' };
}

/** Envoy tries the headers of a route before its path. This is a cheap one that mostly fails. */
export function startsWith(prefix: string): readonly Json[] {
  return prefix.length < 2 ? [] : [{ name: ':path', string_match: { prefix } }];
}

/** The service would find one reading of this path alone. */
export const IN_ONE_READING: Json = {
  name: ':path',
  string_match: { safe_regex: { regex: `/${ONE_READING}*${QUERY}` } },
};

/** The path is in one reading. A glob of a rule never has a `?`. */
export function outside({ inner, prefix, suffix }: Glob): Json {
  const parts = [prefix, ...inner, ...(suffix === undefined ? [] : [suffix])];
  const regex = `${parts.map(quoteRegex).join('[^?]*')}${QUERY}`;
  const string_match = inner.length === 0 && suffix === '' ? { prefix } : { safe_regex: { regex } };
  return { name: ':path', string_match, invert_match: true };
}

/** Headers that the service reads or removes. */
export const NO_CREDENTIALS: readonly Json[] = CREDENTIAL_HEADERS.map(name => ({
  name,
  present_match: true,
  invert_match: true,
}));

/**
 * What the service removes from every request that it lets pass: the gateway's own cookies, and
 * credentials for Filters.
 */
export const NOTHING_TO_REMOVE: readonly Json[] = [
  {
    name: 'cookie',
    string_match: { contains: 'gateway_' },
    invert_match: true,
    treat_missing_header_as_empty: true,
  },
  ...NO_CREDENTIALS,
];
