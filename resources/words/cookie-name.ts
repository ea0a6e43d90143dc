import { parseToken } from './http-token.ts';
import { checkedString, type Parsed } from './parsed-string.ts';

/**
 * Cookies that hold logins. The gateway removes them from requests, and one made elsewhere would
 * end a login.
 */
const OWN = /^(?:__Host-)?gateway_(?:session|pending|xsrf)\./i;

function parseCookieName(text: string): Parsed<string> {
  if (OWN.test(text)) return { error: `the cookie "${text}" is one of the gateway's own` };
  return parseToken(text, 'the name of a cookie');
}

/** The name of one of the operator's cookies (RFC 6265, section 4.1.1). */
export const cookieName = checkedString('the name of a cookie', parseCookieName);
