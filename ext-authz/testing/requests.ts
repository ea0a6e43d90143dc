import type { HttpRequest } from '#ext-authz/http/http-request.ts';

/** A GET of `http://site.test/` with these header fields, repeated ones as lists. */
export function requestWith(
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  change: Partial<HttpRequest> = {},
): HttpRequest {
  const fields = Object.entries(headers).map(([name, value]) => [name, [value].flat()] as const);
  return {
    method: 'GET',
    scheme: 'http',
    authority: 'site.test',
    target: '/',
    headers: new Map(fields),
    body: new Uint8Array(),
    clientAddress: '192.0.2.1',
    id: 'request-1',
    ...change,
  };
}
