import { detachedText } from '#ext-authz/http/header-text.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { BoundedCache, type CacheBounds } from '#process/bounded-cache.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import type { CheckMessage } from './decode-check.ts';

const LONGEST_ID = 128;
const DEFAULT_PORT = { http: ':80', https: ':443' } as const;
/**
 * What a URI allows in an authority (RFC 3986 section 3.2.2), without user names, percent-encoding
 * and the comma with which Envoy joins several hosts.
 */
const AUTHORITY = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()*+;=-]+)(?::\d{1,5})?$/;
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

/**
 * Parses the client's request in a CheckRequest of a filter with `encode_raw_headers`. What is not
 * an HTTP request that can be judged is an error in plain words, without anything that the client
 * sent. `clientAddress` is Envoy's, when Envoy sends it apart from the message, else the
 * connection's.
 */
export function parseCheckRequest(
  message: CheckMessage,
  clientAddress: string | undefined,
  authorityOf: ReadAuthority = normalAuthority,
): Parsed<HttpRequest> {
  const { address, beforeRoute, body, headers, host, isHttp, method, path, routeRule, scheme } =
    message;
  if (!isHttp) return { error: 'it is not an HTTP request' };
  if (scheme !== 'http' && scheme !== 'https')
    return { error: 'its scheme is neither http nor https' };
  const authority = authorityOf(host, scheme);
  if (authority === undefined) return { error: 'its host is malformed' };
  if (!METHOD.test(method)) return { error: 'its method is malformed' };
  if (!path.startsWith('/')) return { error: 'its path does not begin with "/"' };
  const id = requestId(headers.get('x-request-id')?.[0]);
  return {
    value: {
      ...{ method, scheme, authority, target: path, headers, body, id },
      clientAddress: clientAddress ?? address,
      ...(routeRule === '' ? {} : { routeRule }),
      ...(beforeRoute ? { beforeRoute } : {}),
    },
  };
}

type ReadAuthority = (host: string, scheme: 'http' | 'https') => string | undefined;

/** How many hosts are remembered. Longer hosts than that are not. */
const HOSTS: CacheBounds = { entries: 1_000, weight: 1_000 };
const LONGEST_HOST = 256;

/** Returns a reader of hosts that parses a repeated host only once. */
export function rememberedAuthorities(): ReadAuthority {
  const known = { http: new BoundedCache<string>(HOSTS), https: new BoundedCache<string>(HOSTS) };
  return (host, scheme) => {
    const remembered = known[scheme].get(host);
    if (remembered !== undefined) return remembered;
    const authority = normalAuthority(host, scheme);
    if (authority === undefined || host.length > LONGEST_HOST) return authority;
    known[scheme].set(detachedText(host), detachedText(authority));
    return authority;
  };
}

/**
 * Returns lower case, without the scheme's default port and without the dot at the end of the name.
 */
function normalAuthority(host: string, scheme: 'http' | 'https'): string | undefined {
  const lower = host.toLowerCase();
  const named = lower.endsWith(DEFAULT_PORT[scheme])
    ? lower.slice(0, -DEFAULT_PORT[scheme].length)
    : lower;
  const authority = named.replace(/\.(?=:\d*$|$)/, '');
  return authority.length <= 512 && AUTHORITY.test(authority) ? authority : undefined;
}

/** The id stands in logs and pages, and a client inside the network can choose it. */
function requestId(id = ''): string {
  return /^[\x21-\x7e]*$/.test(id) ? id.slice(0, LONGEST_ID) : '';
}
