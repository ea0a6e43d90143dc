import type { JsonObject } from '#protos/json.ts';
import { GATEWAY_ROUTE, WITHOUT_FILTERS } from '../ext-authz/ext-authz-filter.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import type { EdgeHost } from '../tls/edge-hosts.ts';
import type { HostCover } from '../tls/host-cover.ts';
import { HOST_HEADER, hostMark } from '../tls/host-header.ts';
import { HSTS_FILTER, hstsOf, WITHOUT_HSTS } from '../tls/hsts.ts';
import { closed } from './closed-route.ts';
import type { RouteEntry } from './route-entry.ts';
import { toHttps } from './to-https.ts';

/** What a Host requires of requests in the virtual host of one domain. */
export type HostGuard = {
  /** Routes before all others. */
  readonly first: readonly JsonObject[];
  /**
   * Routes before those of Mappings, but behind what is closed. Some Mappings' requests may come
   * without TLS.
   */
  readonly insecure: readonly JsonObject[];
  /** The virtual host's settings of filters. */
  readonly perFilter: JsonObject;
};

export type HostGuards = {
  /** Domains that need a virtual host of their own. */
  readonly hostnames: readonly string[];
  /** Returns whether Mappings are served in the virtual host of a domain. */
  covers(domain: string): boolean;
  /**
   * Returns the guard of a domain. `declares`: a ProxyConfig has routes there, which are served as
   * it says.
   */
  of(domain: string, declares: boolean): HostGuard;
  /** Returns a key that distinguishes guards. */
  keyOf(domain: string): string;
};

const NONE: HostGuard = { first: [], insecure: [], perFilter: {} };

/**
 * Returns the guards of all virtual hosts of the edge. A TLS connection serves its own Host's
 * names. Its handshake decided whether a client's certificate is required there, and HTTP/2 lets a
 * client ask it for any host.
 */
export function hostGuards(
  hosts: readonly EdgeHost[],
  { covers, ownerOf }: HostCover,
  httpsPort: number,
): HostGuards {
  const hasTls = hosts.some(({ tls }) => tls !== undefined);
  const redirects = hosts.every(({ insecure }) => insecure === 'Redirect');
  const uncovered = (domain: string, declares: boolean): HostGuard => ({
    ...NONE,
    first: hasTls ? [misdirected(GATEWAY_ROUTE, undefined)] : [],
    insecure: redirects && !declares && !covers(domain) ? redirectAll(httpsPort) : [],
  });
  return {
    // A guard of `*` always answers for what no Host covers.
    hostnames: [
      ...new Set([...hosts.map(({ hostname }) => hostname), ...(covers('*') ? [] : ['*'])]),
    ],
    covers,
    of: (domain, declares) => {
      const owner = ownerOf(domain);
      return owner === undefined ? uncovered(domain, declares) : guardOf(owner, hasTls, httpsPort);
    },
    keyOf: domain => ownerOf(domain)?.hostname ?? '',
  };
}

function guardOf(host: EdgeHost, hasTls: boolean, httpsPort: number): HostGuard {
  const { hostname, hsts, id, insecure, tls } = host;
  const first = hasTls
    ? [misdirected(id, typeof tls === 'object' ? hostMark(hostname, tls) : undefined)]
    : [];
  if (insecure === 'closed') return { ...NONE, first: [closed(id, { prefix: '/' })] };
  return {
    first,
    insecure: insecure === 'Route' ? [] : insecureRoutes(host, insecure, httpsPort),
    perFilter: hsts === undefined || tls === undefined ? {} : { [HSTS_FILTER]: hstsOf(hsts) },
  };
}

/** RFC 9110, section 15.5.20: the client may ask again over another connection. */
function misdirected(name: string, mark: string | undefined): JsonObject {
  const other =
    mark === undefined
      ? { present_match: true }
      : { string_match: { exact: mark }, invert_match: true };
  return misdirectedAnswer(name, { prefix: '/', headers: [{ name: HOST_HEADER, ...other }] });
}

/** Returns a route that tells clients to ask over another connection. */
export function misdirectedAnswer(name: string, match: JsonObject): JsonObject {
  return {
    name,
    match,
    direct_response: {
      status: 421,
      body: { inline_string: body('This connection is not for that host.', 421) },
    },
    ...JSON_ANSWER,
    ...perFilterConfig(WITHOUT_FILTERS, WITHOUT_HSTS),
  };
}

/**
 * The scheme says whether a request came without TLS. A trusted proxy in front may know it better
 * than the connection. Where clients present certificates, only the connection knows.
 */
function insecureRoutes(
  { id, tls }: EdgeHost,
  action: 'Redirect' | 'Reject',
  httpsPort: number,
): readonly JsonObject[] {
  const needsConnection = typeof tls === 'object' && tls.authorities !== undefined;
  const condition = needsConnection
    ? { name: HOST_HEADER, present_match: true, invert_match: true }
    : { name: 'x-forwarded-proto', string_match: { exact: 'https' }, invert_match: true };
  const match = { prefix: '/', headers: [condition] };
  if (action === 'Redirect') return toHttps(id, [condition], httpsPort);
  const direct_response = {
    status: 403,
    body: { inline_string: body('This host is served by https only.', 403) },
  };
  return [{ name: id, match, direct_response, ...JSON_ANSWER, ...WITHOUT_FILTERS }];
}

/**
 * Where every Host redirects requests without TLS to https, requests for unknown names are
 * redirected too.
 */
function redirectAll(httpsPort: number): readonly JsonObject[] {
  const condition = {
    name: 'x-forwarded-proto',
    string_match: { exact: 'https' },
    invert_match: true,
  };
  return toHttps(GATEWAY_ROUTE, [condition], httpsPort);
}

function body(message: string, status_code: number): string {
  return JSON.stringify({ message, status_code });
}

const JSON_ANSWER: JsonObject = {
  response_headers_to_add: [
    {
      header: { key: 'content-type', value: 'application/json' },
      append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
    },
  ],
};

const ACME = '/.well-known/acme-challenge/';

/**
 * Returns whether a route is for the proof of an ACME provider, which asks without TLS (RFC 8555,
 * section 8.3).
 */
export function isAcmeRoute({ route }: RouteEntry): boolean {
  const { path, prefix } = route.match as { readonly path?: string; readonly prefix?: string };
  return (prefix ?? path ?? '').startsWith(ACME);
}
