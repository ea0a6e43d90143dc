import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import { MOST_COPIES } from './shards.ts';

/** A header, and the one value of it that each of many routes asks for. */
export type AskedHeader = {
  readonly name: string;
  readonly values: readonly (string | undefined)[];
};

/** Returns the header by whose values a long list of routes can be cut. */
export function askedHeader(
  routes: readonly JsonObject[],
  longest: number,
): AskedHeader | undefined {
  if (routes.length <= longest) return undefined;
  const name = mostAsked(routes);
  if (name === undefined) return undefined;
  const values = routes.map(route => askedValue(route, name));
  const asked = new Set(values.filter(value => value !== undefined));
  const others = values.filter(value => value === undefined).length;
  const copies = (asked.size + 1) * others + (routes.length - others) + routes.length;
  return asked.size < 2 || copies > MOST_COPIES * routes.length ? undefined : { name, values };
}

/**
 * Returns the part of a virtual host that has these routes. A long list of which many routes ask
 * for a value of one header becomes a list for each value. Each has, in order, every route that can
 * match such a request. So its first match is the first match of the one list.
 */
export function byHeader(
  routes: readonly JsonObject[],
  header: AskedHeader | undefined,
): JsonObject {
  if (header === undefined) return { routes };
  const { name, values } = header;
  const lists = listsOf(routes, values);
  const asked = new Set(values.filter(value => value !== undefined));
  const input = { name, typed_config: { '@type': HEADER_INPUT, header_name: name } };
  return {
    matcher: {
      matcher_tree: {
        input,
        exact_match_map: {
          map: Object.fromEntries([...asked].map(value => [value, chosen(lists.get(value) ?? [])])),
        },
      },
      on_no_match: {
        matcher: {
          matcher_list: {
            matchers: [
              {
                predicate: { single_predicate: { input, value_match: { contains: JOINT } } },
                on_match: chosen(routes),
              },
            ],
          },
          on_no_match: chosen(lists.get(undefined) ?? []),
        },
      },
    },
  };
}

/**
 * Where a client sends a header twice, the input is the values joined by this. A route takes any
 * one of them.
 */
const JOINT = ',';

const HEADER_INPUT = 'type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput';
const ROUTE_LIST = 'type.googleapis.com/envoy.config.route.v3.RouteList';

function chosen(routes: readonly JsonObject[]): JsonObject {
  return { action: { name: 'routes', typed_config: { '@type': ROUTE_LIST, routes } } };
}

/** By value, and by undefined those for all other requests. */
export function listsOf(
  routes: readonly JsonObject[],
  values: readonly (string | undefined)[],
): ReadonlyMap<string | undefined, readonly JsonObject[]> {
  const lists = new Map<string | undefined, JsonObject[]>([[undefined, []]]);
  for (const value of values) lists.set(value, []);
  for (const [index, route] of routes.entries()) {
    const value = values[index];
    if (value !== undefined) lists.get(value)?.push(route);
    else for (const list of lists.values()) list.push(route);
  }
  return lists;
}

/** Returns the header of which most routes ask for a value. */
function mostAsked(routes: readonly JsonObject[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { match } of routes)
    for (const name of new Set(asksOf(match).map(([asked]) => asked)))
      counts.set(name, (counts.get(name) ?? 0) + 1);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most?.[0];
}

function askedValue({ match }: JsonObject, name: string): string | undefined {
  return asksOf(match).find(([asked]) => asked === name)?.[1];
}

/** Headers and the one value that a match takes of each. */
function asksOf(match: JsonObject[string] | undefined): readonly (readonly [string, string])[] {
  if (!isJsonObject(match)) return [];
  return objectsIn(match.headers).flatMap(({ invert_match, name, string_match }) => {
    if (invert_match === true || !isJsonObject(string_match)) return [];
    const { exact, ignore_case } = string_match;
    const isOne = typeof exact === 'string' && /^[^,]+$/.test(exact) && ignore_case !== true;
    // Pseudo-headers have few values, or are what the shards are cut by.
    return isOne && typeof name === 'string' && !name.startsWith(':')
      ? [[name.toLowerCase(), exact] as const]
      : [];
  });
}
