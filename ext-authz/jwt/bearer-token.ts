import type { HeaderFields } from '#ext-authz/http/http-request.ts';

export type BearerToken = { readonly token: string } | 'missing' | 'malformed';

/**
 * RFC 6750 section 2.1: `"Bearer" 1*SP b64token`. The scheme may be in any case (RFC 9110 section
 * 11.1).
 */
const CREDENTIALS = /^Bearer +([\w.~+/-]+=*)$/i;

/**
 * Returns the bearer token of a request's `Authorization`. Credentials of another scheme count as
 * `missing`. `malformed` means that the field is present twice or empty, or that what follows
 * `Bearer` is not a b64token. See docs/reference/kinds/filter.md.
 */
export function bearerToken(headers: HeaderFields): BearerToken {
  const fields = headers.get('authorization') ?? [];
  const [field] = fields;
  if (field === undefined) return 'missing';
  if (fields.length > 1 || field === '') return 'malformed';
  const token = CREDENTIALS.exec(field)?.[1];
  if (token !== undefined) return { token };
  return /^Bearer(?![!#$%&'*+.^_`|~\w-])/i.test(field) ? 'malformed' : 'missing';
}
