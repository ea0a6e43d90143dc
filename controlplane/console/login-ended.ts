import type { IncomingHttpHeaders } from 'node:http';
import { GATEWAY_PATHS } from '#controlplane/compile/ext-authz/ext-authz-filter.ts';
import { escapeHtml } from '#process/escape-html.ts';
import type { Resource } from '#resources/resource.ts';
import { formatOrigin } from '#resources/words/origin.ts';

/** Returns whether a browser is about to show what it asks for. */
export function isNavigation(headers: IncomingHttpHeaders): boolean {
  const mode = headers['sec-fetch-mode'];
  if (mode !== undefined) return mode === 'navigate';
  return headers.accept?.includes('text/html') === true;
}

/**
 * Returns where the Filter whose ID tokens open the console begins a new login, which then goes on
 * at the path. To load the page again would not help, because the session goes on.
 * @returns undefined when it is not plain which Filter that is
 */
export function freshLogin(
  filters: readonly Resource<'Filter'>[],
  audience: string,
  path: string,
): string | undefined {
  const [login, ...others] = filters.flatMap(({ name, namespace, spec: { OAuth2 } }) =>
    OAuth2?.grantType === 'AuthorizationCode' && OAuth2.clientID === audience
      ? { realm: `${name}.${namespace}`, origins: OAuth2.protectedOrigins }
      : [],
  );
  const [first] = login?.origins ?? [];
  if (login === undefined || first === undefined || others.length > 0) return undefined;
  const origin = formatOrigin(first.origin);
  const query = new URLSearchParams({ realm: login.realm, return: `${origin}${path}` });
  return `${origin}${GATEWAY_PATHS}login?${query}`;
}

export const PAGE_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
};

/** Returns the page that says so. */
export function endedPage(error: string, again: string | undefined): string {
  const link = again === undefined ? '' : `<p><a href="${escapeHtml(again)}">Log in again</a></p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Login expired</title></head>
<body><h1>Your login has expired</h1><p>${escapeHtml(error)}.</p>${link}</body></html>
`;
}
