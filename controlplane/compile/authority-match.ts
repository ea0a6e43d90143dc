import type { JsonObject } from '#protos/json.ts';
import { quoteRegex } from './quote-regex.ts';

/**
 * The port that may follow a host in `:authority`. Envoy takes anything after the last colon for a
 * port (`ignore_port_in_host_matching`), and so do all conditions on hosts.
 */
const ANY_PORT = '(?::[^:\\]]*)?';

/**
 * Returns a `HeaderMatcher` for this value of `:authority`, with any port when the value has none.
 */
export function authorityIs(value: string): JsonObject {
  return authorityMatches(quoteRegex(value));
}

/**
 * Returns a `HeaderMatcher` for an RE2 expression that must match `:authority`, or its host alone.
 */
export function authorityMatches(regex: string): JsonObject {
  return { name: ':authority', string_match: { safe_regex: { regex: withAnyPort(regex) } } };
}

/** Returns the same matcher for any letter case. */
export function hostMatches(regex: string): JsonObject {
  return {
    name: ':authority',
    string_match: { safe_regex: { regex: `(?i)${withAnyPort(regex)}` } },
  };
}

/** Extends an expression so that it also matches its hosts with a port behind them. */
export function withAnyPort(regex: string): string {
  return `(?:${regex.replace(TOKEN, token => (ENDS.has(token) ? `${ANY_PORT}${token}` : token))})${ANY_PORT}`;
}

/** One RE2 token: a quotation, an escape, a class of characters or one character. */
const TOKEN = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\.|[^\]\\])*\]|./gsu;

/** Tokens for the end of the text. */
const ENDS: ReadonlySet<string> = new Set(['$', '\\z']);
