import { checkedString, type Parsed } from '#resources/words/parsed-string.ts';
import { parseRe2 } from './re2.ts';

/**
 * Other servers accept 8 KiB. By default Envoy bounds all request headers together to 60 KiB.
 */
const LONGEST = 8192;
const LONGEST_SHOWN = 80;

/**
 * Parses a path or the beginning of one as Envoy compares it, without query. It begins with `/`.
 */
export function parsePrefix(text: string): Parsed<string> {
  const query = /[?#]/.exec(text)?.[0];
  if (query === undefined) return parsePath(text);
  return fail(text, `"${query}" is never part of a path: queries are not compared`);
}

/** Parses an RE2 expression for whole paths. */
export function parsePathRegex(text: string): Parsed<string> {
  const odd = /[^\x20-\x7e]/u.exec(text)?.[0];
  if (odd === undefined) return parseRe2(text);
  return fail(text, `${JSON.stringify(odd)} is never part of a path. Write it percent-encoded`);
}

/** Parses the beginning of a path, percent-encoded, perhaps with a query. */
function parsePath(text: string): Parsed<string> {
  if (text.length > LONGEST)
    return fail(text, `it has ${text.length} characters, ${LONGEST} are allowed`);
  if (!text.startsWith('/')) return fail(text, 'it must begin with "/"');
  const odd = /[^\x21-\x7e]/u.exec(text)?.[0];
  if (odd !== undefined)
    return fail(text, `${JSON.stringify(odd)} is never part of a path. Write it percent-encoded`);
  return { value: text };
}

/** Parses a path that begins with `/`, or nothing. */
export function parseRewrite(text: string): Parsed<string> {
  return text === '' ? { value: text } : parsePath(text);
}

function fail(text: string, reason: string): Parsed<never> {
  return { error: `Cannot parse path ${JSON.stringify(text.slice(0, LONGEST_SHOWN))}: ${reason}` };
}

export const pathPrefix = checkedString('a path that begins with "/"', parsePrefix);

export const pathAndQuery = checkedString('a path that begins with "/"', parsePath);
