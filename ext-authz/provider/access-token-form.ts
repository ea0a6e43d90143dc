/** RFC 6750 section 2.1 */
const B64TOKEN = /^[\w.~+/-]+=*$/;

/** Controls (C0, DEL, C1), and halves of surrogate pairs, which no header can carry. */
const UNSENDABLE = /\p{Cc}|\p{Cs}/u;

/**
 * Returns whether an access token has a form in which it may be sent upstream. That is RFC 6750's
 * b64token, or with `allowMalformed` any text but the empty one. A token with a control, CR, LF or
 * NUL never has it. See docs/reference/kinds/filter.md.
 */
export function isAccessTokenForm(token: string, allowMalformed: boolean): boolean {
  if (token === '' || UNSENDABLE.test(token)) return false;
  return allowMalformed || B64TOKEN.test(token);
}
