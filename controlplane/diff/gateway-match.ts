import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import type { Asked } from './conditions.ts';
import { ANY, type Region, samplesOf } from './region.ts';

/**
 * Returns the paths of Envoy's `RouteMatch` as a glob. An expression is as wide as the characters
 * before its first special one tell.
 */
export function globOf(match: JsonObject): string {
  const { path, path_separated_prefix: segments, prefix, safe_regex: regex } = match;
  if (typeof path === 'string') return path;
  if (typeof segments === 'string') return `${segments}*`;
  if (typeof prefix === 'string') return `${prefix}*`;
  const start = /^[\w/~-]*/.exec(isJsonObject(regex) ? String(regex.regex) : '')?.[0] ?? '';
  return `${start.startsWith('/') ? start.replace(/.$/, '') : ''}*`.replace(/^\*$/, '/*');
}

/** Returns requests of a host that stand for those of a match. */
export function samplesIn(match: JsonObject, host: string): readonly Region[] {
  const { path_separated_prefix: segments } = match;
  const region = { host, path: globOf(match) };
  if (typeof segments !== 'string') return samplesOf(region);
  return [segments, `${segments}/`, `${segments}/${ANY}`].flatMap(path =>
    samplesOf({ host, path }),
  );
}

/** Returns the path of Envoy's `RouteMatch` for people. */
export function matchText({
  path_separated_prefix: segments,
  safe_regex: regex,
  ...match
}: JsonObject): string {
  if (isJsonObject(regex)) return `~ ${regex.regex}`;
  return typeof segments === 'string' ? `${segments}/*` : globOf(match);
}

/** Returns what a route asks for beside host and path. */
export function askedBy(match: JsonObject): Asked {
  const all = objectsIn(match.headers);
  const method = exactOf(all.find(({ name }) => name === ':method'));
  const headers = all.filter(({ name }) => name !== ':method');
  const parameters = objectsIn(match.query_parameters);
  return {
    ...(method === undefined ? {} : { method }),
    method_regex: false,
    headers: { ...namedBy(headers, exactOf), ...(match.grpc === undefined ? {} : GRPC) },
    regex_headers: namedBy(headers, regexOf),
    query_parameters: namedBy(parameters, exactOf),
    regex_query_parameters: namedBy(parameters, regexOf),
  };
}

const GRPC = { 'content-type': 'application/grpc' };

function namedBy(
  matchers: readonly JsonObject[],
  read: (matcher: JsonObject) => string | undefined,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    matchers.flatMap(matcher => {
      const value = read(matcher);
      return value === undefined ? [] : [[String(matcher.name), value]];
    }),
  );
}

function exactOf(matcher: JsonObject | undefined): string | undefined {
  const { string_match: text } = matcher ?? {};
  return isJsonObject(text) && typeof text.exact === 'string' ? text.exact : undefined;
}

function regexOf({ string_match: text }: JsonObject): string | undefined {
  const regex = isJsonObject(text) ? text.safe_regex : undefined;
  return isJsonObject(regex) ? String(regex.regex) : undefined;
}
