import { parseHostPort } from './host.ts';
import { isLoopback } from './origin.ts';
import { checkedString, type Parsed } from './parsed-string.ts';

const LONGEST = 2048;

/** The characters of a URL (RFC 3986 section 2), escapes with two hexadecimal digits. */
const CHARACTERS = /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9a-f]{2})*$/i;

/** Parses an absolute http or https URL without user, password and fragment, as it is written. */
export function parseHttpUrl(text: string): Parsed<string> {
  const [, authority = ''] = /^https?:\/\/([^/?#]+)/i.exec(text) ?? [];
  if (authority.includes('@')) return fail(text, 'it may not have a user name or password ("@")');
  if (text.length > LONGEST)
    return fail(text, `it has ${text.length} characters, ${LONGEST} are allowed`);
  if (authority === '') return fail(text, 'it must begin with http:// or https:// and a host');
  if (!CHARACTERS.test(text))
    return fail(text, 'it has a character that must be percent-encoded in a URL');
  if (text.includes('#')) return fail(text, 'it may not have a fragment ("#")');
  const target = parseHostPort(authority);
  return 'error' in target ? fail(text, target.error) : { value: text };
}

/** Parses the same without a query. A path is appended to it. */
export function parseHttpBase(text: string): Parsed<string> {
  const parsed = parseHttpUrl(text);
  return 'value' in parsed && text.includes('?')
    ? fail(text, 'it may not have a query ("?")')
    : parsed;
}

export function isHttps(url: string): boolean {
  return /^https:/i.test(url);
}

/** Whether what is sent to this URL can be read on the way, as by http to another machine. */
export function isOpenToReaders(url: string): boolean {
  return !isHttps(url) && !isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''));
}

/** The message quotes neither a query nor what may have a password in it. */
function fail(text: string, reason: string): Parsed<never> {
  const shown = text.includes('@')
    ? ''
    : ` ${JSON.stringify(text.replace(/\?.*/s, '?…').slice(0, 80))}`;
  return { error: `Cannot parse url${shown}: ${reason}` };
}

const FORM = 'an http:// or https:// URL';
export const httpUrl = checkedString(FORM, parseHttpUrl);
export const httpBase = checkedString(FORM, parseHttpBase);
