import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { ProtectedOrigin } from '#resources/kinds/filter/filter-oauth2-origins.ts';
import {
  defaultPort,
  formatAuthority,
  formatOrigin,
  type Origin,
  parseAuthority,
} from '#resources/words/origin.ts';
import { matchesOrigin } from '#resources/words/origin-pattern.ts';

/** Where a request is, as its browser sees it. */
export type Place = {
  /** The configured origin, such as `https://example.com`. */
  readonly configured: string;
  /** The request's own origin: the configured one, or with includeSubdomains a host below it. */
  readonly origin: string;
  /** Whether the login is held here, because it is the first item's very origin. */
  readonly holdsLogin: boolean;
  /** Cookies are sent over TLS only. */
  readonly secure: boolean;
  /** The host that a cookie's `Domain` may name. */
  readonly host: string;
  /** Whether cookies have `Domain`. */
  readonly includeSubdomains: boolean;
};

/**
 * Returns the protected origin that a request belongs to. It is that of the first item whose
 * `internalOrigin` matches Envoy's scheme and `:authority`. With includeSubdomains what stands
 * before the internal host stands before the external one too. See docs/reference/kinds/filter.md.
 * @returns undefined when the request belongs to none
 */
export function placeOf(
  items: readonly ProtectedOrigin[],
  request: Pick<HttpRequest, 'scheme' | 'authority'>,
): Place | undefined {
  return placesOf(items)(request);
}

/**
 * Returns the same for many requests. Most are at a configured origin itself, whose Place is made
 * once.
 */
export function placesOf(items: readonly ProtectedOrigin[]): FindPlace {
  const places = new Map(items.map(item => [item, placeAt(items, item, item.origin.host)]));
  return request => {
    const internal = internalOrigin(request);
    const item = internal && items.find(candidate => matchesOrigin(candidate, internal));
    if (internal === undefined || item === undefined) return undefined;
    const host = externalHost(item, internal);
    return host === item.origin.host ? places.get(item) : placeAt(items, item, host);
  };
}

export type FindPlace = (request: Pick<HttpRequest, 'scheme' | 'authority'>) => Place | undefined;

function placeAt(items: readonly ProtectedOrigin[], item: ProtectedOrigin, host: string): Place {
  const origin = formatOrigin({ ...item.origin, host });
  return {
    configured: formatOrigin(item.origin),
    origin,
    holdsLogin: origin === loginOrigin(items),
    secure: item.origin.scheme === 'https',
    host: item.origin.host,
    includeSubdomains: item.includeSubdomains,
  };
}

/** Returns the first item's origin. It holds the login, and `redirect_uri` is always there. */
export function loginOrigin([first]: readonly ProtectedOrigin[]): string {
  return first === undefined ? '' : formatOrigin(first.origin);
}

/** Returns whether a URL, as browsers see it, is at this origin, or below it where that belongs. */
export function isAt({ includeSubdomains, origin }: ProtectedOrigin, url: URL): boolean {
  const below = includeSubdomains && url.hostname.endsWith(`.${origin.host}`);
  return formatOrigin(below ? { ...origin, host: url.hostname } : origin) === url.origin;
}

/**
 * Returns the authority with which requests for a URL come in.
 * @returns undefined when it may be any, or the URL is at none of these origins
 */
export function internalAuthority(items: readonly ProtectedOrigin[], url: URL): string | undefined {
  const item = items.find(each => isAt(each, url));
  if (item === undefined || item.internalOrigin.host === '*') return undefined;
  const { internalOrigin, origin } = item;
  const isBelow = url.hostname.endsWith(`.${origin.host}`);
  const before = isBelow ? url.hostname.slice(0, -origin.host.length) : '';
  return formatAuthority(`${before}${internalOrigin.host}`, undefined);
}

export const CALLBACK_PATH = '/.gateway/oauth2/redirection-endpoint';
export const LOGIN_PATH = '/.gateway/oauth2/login';
export const LOGOUT_PATH = '/.gateway/oauth2/logout';

/**
 * Leaves out the port, as the internal origins of items do. Proxies in front may have mapped it.
 */
function internalOrigin({
  authority,
  scheme,
}: Pick<HttpRequest, 'scheme' | 'authority'>): Origin | undefined {
  const port = defaultPort(scheme);
  if (!authority.includes(':')) return { scheme, host: authority, port };
  const parsed = parseAuthority(authority);
  return 'error' in parsed ? undefined : { scheme, host: parsed.value.host, port };
}

function externalHost(
  { includeSubdomains, internalOrigin, origin }: ProtectedOrigin,
  { host }: Origin,
): string {
  if (!includeSubdomains || host === internalOrigin.host) return origin.host;
  return host.slice(0, -internalOrigin.host.length) + origin.host;
}
