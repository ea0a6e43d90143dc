import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import { matchesRe2 } from '#resources/match/re2.ts';
import type { Headers } from './request-headers.ts';
import type { Unmet } from './unmet.ts';

/**
 * Checks one of Envoy's `HeaderMatcher`s: `present_match` or `string_match`, each perhaps inverted.
 * One matching field of several repeated ones is enough [measured on Envoy 1.40]. The text names
 * the wanted value of a method only: others may be secrets.
 */
export function unmetHeader(matcher: JsonObject, headers: Headers): Unmet | undefined {
  const { name, present_match, string_match, invert_match = false, ...rest } = matcher;
  const { treat_missing_header_as_empty: missingIsEmpty, ...others } = rest;
  if (typeof name !== 'string' || Object.keys(others).length > 0)
    throw new Error(
      `a header match that explain does not know: ${Object.keys(matcher).join(', ')}`,
    );
  const values = headers.get(name.toLowerCase());
  if (present_match !== undefined) {
    const wanted = present_match !== invert_match;
    return (values !== undefined) === wanted ? undefined : unmet(name, values, undefined);
  }
  // A missing header never matches, not even inverted, unless it counts as empty.
  const met =
    (values ?? (missingIsEmpty === true ? [''] : undefined))?.some(value =>
      matchesString(string_match, value),
    ) === !invert_match;
  return met ? undefined : unmet(name, values, string_match);
}

/** Evaluates Envoy's `StringMatcher`. */
export function matchesString(matcher: Json | undefined, text: string): boolean {
  const { exact, contains, prefix, safe_regex, ...others } = isJsonObject(matcher)
    ? matcher
    : { none: null };
  if (Object.keys(others).length === 0) {
    if (typeof exact === 'string') return text === exact;
    if (typeof contains === 'string') return text.includes(contains);
    if (typeof prefix === 'string') return text.startsWith(prefix);
    if (isJsonObject(safe_regex)) return matchesRe2(String(safe_regex.regex), text);
  }
  throw new Error(`a string match that explain does not know: ${Object.keys(others).join(', ')}`);
}

function unmet(
  name: string,
  values: readonly string[] | undefined,
  matcher: Json | undefined,
): Unmet {
  const header = name === ':authority' ? 'the Host' : `the header ${name}`;
  if (values === undefined) return { of: 'header', reason: `${header} is missing` };
  if (name !== ':method') return { of: 'header', reason: `${header} has another value` };
  const { exact, safe_regex } = isJsonObject(matcher) ? matcher : {};
  const wanted = isJsonObject(safe_regex)
    ? `one that ${String(safe_regex.regex)} matches`
    : String(exact);
  return { of: 'method', reason: `the method is ${values.join()}, not ${wanted}` };
}
