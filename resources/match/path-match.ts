import { checkedString, type Parsed } from '#resources/words/parsed-string.ts';
import { parseRe2 } from './re2.ts';

/**
 * Envoy lets no longer path in: its request headers have 60 KiB at most by default, and 8 KiB is
 * what other servers take.
 */
const LONGEST = 8192;
const LONGEST_SHOWN = 80;

/**
 * What a request's path begins with, or is: as Envoy compares it, without query. Begins with `/`.
 */
export function parsePrefix(text: string): Parsed<string> {
  const query = /[?#]/.exec(text)?.[0];
  if (query === undefined) return parsePath(text);
  return fail(text, `"${query}" never stands in a path: queries are not compared`);
}

/** An RE2 expression for whole paths. */
export function parsePathRegex(text: string): Parsed<string> {
  const odd = /[^\x20-\x7e]/u.exec(text)?.[0];
  if (odd === undefined) return parseRe2(text);
  return fail(text, `${JSON.stringify(odd)} never stands in a path; write it percent-encoded`);
}

/** What a path, perhaps with a query, may begin with. Percent-encoded. */
function parsePath(text: string): Parsed<string> {
  if (text.length > LONGEST)
    return fail(text, `it has ${text.length} characters, ${LONGEST} are allowed`);
  if (!text.startsWith('/')) return fail(text, 'it must begin with "/"');
  const odd = /[^\x21-\x7e]/u.exec(text)?.[0];
  if (odd !== undefined)
    return fail(text, `${JSON.stringify(odd)} never stands in a path; write it percent-encoded`);
  return { value: text };
}

/** A path that begins with `/`, or nothing. */
export function parseRewrite(text: string): Parsed<string> {
  return text === '' ? { value: text } : parsePath(text);
}

function fail(text: string, reason: string): Parsed<never> {
  return { error: `Cannot parse path ${JSON.stringify(text.slice(0, LONGEST_SHOWN))}: ${reason}` };
}

export const pathPrefix = checkedString('a path that begins with "/"', parsePrefix);

export const pathAndQuery = checkedString('a path that begins with "/"', parsePath);
