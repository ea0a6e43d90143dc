import type { JsonObject } from '#protos/json.ts';
import { quoteRegex } from './quote-regex.ts';

/**
 * What may stand behind a host in `:authority`. Envoy takes whatever follows the last colon for a
 * port (`ignore_port_in_host_matching`), and so do all conditions on hosts.
 */
const ANY_PORT = '(?::[^:\\]]*)?';

/** A `HeaderMatcher` for this value of `:authority`, with any port when the value has none. */
export function authorityIs(value: string): JsonObject {
  return authorityMatches(quoteRegex(value));
}

/** A `HeaderMatcher` for an RE2 expression that `:authority` or its host alone must match. */
export function authorityMatches(regex: string): JsonObject {
  return { name: ':authority', string_match: { safe_regex: { regex: withAnyPort(regex) } } };
}

/** The same in any letter case. */
export function hostMatches(regex: string): JsonObject {
  return {
    name: ':authority',
    string_match: { safe_regex: { regex: `(?i)${withAnyPort(regex)}` } },
  };
}

/** The expression, which then matches a host that it matches also with a port behind it. */
export function withAnyPort(regex: string): string {
  return `(?:${regex.replace(TOKEN, token => (ENDS.has(token) ? `${ANY_PORT}${token}` : token))})${ANY_PORT}`;
}

/** A quotation, an escape, a class of characters or one character of RE2. */
const TOKEN = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\.|[^\]\\])*\]|./gsu;

/** What stands for the end of the text. */
const ENDS: ReadonlySet<string> = new Set(['$', '\\z']);
