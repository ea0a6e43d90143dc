import type { JsonObject } from '#protos/json.ts';
import { matchesString } from './header-condition.ts';
import type { Unmet } from './unmet.ts';

/**
 * Checks one of Envoy's `QueryParameterMatcher`s: `present_match` or `string_match`. The text
 * leaves out the wanted value: it may be a secret.
 */
export function unmetQuery(
  matcher: JsonObject,
  query: ReadonlyMap<string, string>,
): Unmet | undefined {
  const { name, present_match, string_match, ...others } = matcher;
  if (typeof name !== 'string' || Object.keys(others).length > 0)
    throw new Error(`a query match that explain does not know: ${Object.keys(matcher).join(', ')}`);
  const value = query.get(name);
  if (value === undefined) return { of: 'query', reason: `the query has no ${name}` };
  if (present_match === true || matchesString(string_match, value)) return undefined;
  return { of: 'query', reason: `the parameter ${name} of the query has another value` };
}
