import { acceptsHtml, prefersHtml } from '#ext-authz/http/accept.ts';
import { isGrpc } from '#ext-authz/http/grpc.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';

type Asked = Pick<HttpRequest, 'headers'>;

/**
 * Returns whether a redirect to the provider can end at a page that a user sees. Browsers say so by
 * `Sec-Fetch-Mode` (Fetch Metadata section 2.2), to trustworthy origins only. Elsewhere
 * `X-Requested-With` and `Accept` tell. A program that accepts anything is redirected.
 */
export function canLogIn({ headers }: Asked): boolean {
  if (isWebSocket(headers) || isGrpc({ headers }) || isAhead({ headers })) return false;
  const mode = headers.get('sec-fetch-mode')?.[0];
  if (mode !== undefined) return mode === 'navigate';
  return !isScript(headers) && acceptsHtml(headers);
}

/** Returns whether a browser is about to show what it asks for, as far as it says so. */
export function isNavigation({ headers }: Asked): boolean {
  const mode = headers.get('sec-fetch-mode')?.[0];
  if (mode !== undefined) return mode === 'navigate';
  return headers.get('accept')?.[0]?.includes('text/html') === true;
}

/**
 * Returns whether the answer fills a tab of a browser, which says so itself. A frame does not
 * count.
 */
export function isShown({ headers, method }: Pick<HttpRequest, 'headers' | 'method'>): boolean {
  const says = (name: string, value: string) => headers.get(name)?.join() === value;
  const isTab = says('sec-fetch-mode', 'navigate') && says('sec-fetch-dest', 'document');
  return method === 'GET' && isTab && prefersHtml(headers);
}

/**
 * Returns whether a browser fetches ahead what its user may never open, and may throw the answer
 * away with its cookies. Besides `Sec-Purpose` (Fetch standard) there are older names for it.
 */
export function isAhead({ headers }: Asked): boolean {
  return AHEAD.some(name => /^pre(?:fetch|view|render)/i.test(headers.get(name)?.[0] ?? ''));
}

const AHEAD = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/** Browsers follow no redirect of a WebSocket (RFC 6455 section 4.1). */
function isWebSocket(headers: HttpRequest['headers']): boolean {
  return (headers.get('upgrade') ?? []).some(protocol => protocol.toLowerCase() === 'websocket');
}

function isScript(headers: HttpRequest['headers']): boolean {
  return headers.get('x-requested-with')?.[0]?.toLowerCase() === 'xmlhttprequest';
}
