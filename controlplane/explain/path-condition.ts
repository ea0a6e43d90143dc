import { isJsonObject, type JsonObject } from '#protos/json.ts';
import { matchesRe2 } from '#resources/match/re2.ts';
import type { Unmet } from './unmet.ts';

/**
 * Checks the path of Envoy's `RouteMatch`. It has one of the fields `prefix`, `path`,
 * `path_separated_prefix` and `safe_regex`. The match of an expression is always case-sensitive.
 */
export function unmetPath(
  match: JsonObject,
  path: string,
  caseSensitive = true,
): Unmet | undefined {
  const compared = (text: string) => (caseSensitive ? text : text.toLowerCase());
  const own = compared(path);
  const [[kind, wanted] = [], ...others] = Object.entries(match);
  if (others.length > 0)
    throw new Error(`a route match with several paths: ${Object.keys(match).join(', ')}`);
  if (kind === 'safe_regex' && isJsonObject(wanted)) {
    const regex = String(wanted.regex);
    return matchesRe2(regex, path)
      ? undefined
      : unmet(path, `one that the expression ${regex} matches`);
  }
  if (kind === 'prefix' && typeof wanted === 'string')
    return own.startsWith(compared(wanted))
      ? undefined
      : unmet(path, `one that begins with ${wanted}`);
  if (kind === 'path' && typeof wanted === 'string')
    return own === compared(wanted) ? undefined : unmet(path, wanted);
  if (kind === 'path_separated_prefix' && typeof wanted === 'string') {
    return `${own}/`.startsWith(`${compared(wanted)}/`)
      ? undefined
      : unmet(path, `${wanted}, or one below it`);
  }
  throw new Error(`a route match that explain does not know: ${Object.keys(match).join(', ')}`);
}

function unmet(path: string, wanted: string): Unmet {
  return { of: 'path', reason: `the path is ${path}, not ${wanted}` };
}
