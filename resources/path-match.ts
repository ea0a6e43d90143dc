import { checkedString, type Parsed } from './parsed-string.ts';

/** What of a path Envoy compares is printable ASCII without space; 8 KiB is far beyond any path that it lets in. */
const LONGEST = 8192;

/** `text` when it can be a part of a request's path as Envoy sees it: percent-encoded, without query and fragment. */
export function parsePathText(text: string): Parsed<string> {
  if (text.length > LONGEST) return { error: `it has ${text.length} characters, ${LONGEST} are allowed` };
  const odd = /[^\x21-\x7e]/u.exec(text)?.[0];
  if (odd !== undefined) {
    return { error: `${JSON.stringify(odd)} never stands in a path; write it percent-encoded` };
  }
  return { value: text };
}

/** A path that begins with `/`. */
export function parsePath(text: string): Parsed<string> {
  const parsed = parsePathText(text);
  if ('error' in parsed) return { error: `Cannot parse path "${text.slice(0, 80)}": ${parsed.error}` };
  if (!text.startsWith('/')) return { error: `Cannot parse path "${text}": it must begin with "/"` };
  return parsed;
}

export const path = checkedString('a path that begins with "/"', parsePath);

/** A path that begins with `/`, or nothing. */
export function parseRewrite(text: string): Parsed<string> {
  return text === '' ? { value: text } : parsePath(text);
}
