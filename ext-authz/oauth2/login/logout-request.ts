import type { HttpRequest } from '#ext-authz/http/http-request.ts';

export type LogoutRequest = {
  /** Undefined when there is none. */
  readonly realm: string | undefined;
  /** Empty when there is none. */
  readonly xsrf: string;
};

const LONGEST = 8192;
const FORM = 'application/x-www-form-urlencoded';

/**
 * Reads a logout request. `realm` may be in the body or the query, `_xsrf` in the body only. See
 * docs/reference/kinds/filter.md.
 */
export function parseLogout({
  body,
  headers,
  target,
}: HttpRequest): LogoutRequest | { readonly status: number; readonly error: string } {
  const [type, ...others] = headers.get('content-type') ?? [];
  if (others.length > 0 || type?.split(';', 1)[0]?.trim().toLowerCase() !== FORM)
    return { status: 415, error: `The body must be ${FORM}.` };
  if (body.length > LONGEST) return { status: 413, error: `The body may have ${LONGEST} bytes.` };
  const form = new URLSearchParams(Buffer.from(body).toString('utf8'));
  const query = new URL(target, 'http://gateway').searchParams;
  if (
    form.getAll('realm').length > 1 ||
    form.getAll('_xsrf').length > 1 ||
    query.getAll('realm').length > 1
  )
    return { status: 400, error: 'A parameter is present twice.' };
  const [realm, other] = [form.get('realm'), query.get('realm')];
  if (realm !== null && other !== null && realm !== other)
    return { status: 400, error: '`realm` of the body and `realm` of the address differ.' };
  return { realm: realm ?? other ?? undefined, xsrf: form.get('_xsrf') ?? '' };
}
