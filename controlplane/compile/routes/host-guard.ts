import type { JsonObject } from '#protos/json.ts';
import { CHALLENGE_CLUSTER } from '../clusters/reserved-clusters.ts';
import { GATEWAY_ROUTE, WITHOUT_FILTERS } from '../ext-authz/ext-authz-filter.ts';
import { setHeader } from '../header-option.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import { quoteRegex } from '../quote-regex.ts';
import type { EdgeHost } from '../tls/edge-hosts.ts';
import { choiceOf } from '../tls/host-choice.ts';
import type { HostCover } from '../tls/host-cover.ts';
import { HOST_HEADER, hostMark } from '../tls/host-header.ts';
import { HSTS_FILTER, hstsOf, WITHOUT_HSTS } from '../tls/hsts.ts';
import { closed } from './closed-route.ts';
import type { RouteEntry } from './route-entry.ts';
import { toHttps } from './to-https.ts';

/** Which requests came by https, as Ambassador's Listener says it. */
export type SecurityModel = 'XFP' | 'SECURE' | 'INSECURE';

/** What differs between the ports of the edge. */
export type GuardedPort = {
  readonly security: SecurityModel;
  /** Returns whether a Host is reached there. */
  readonly binds: (host: EdgeHost) => boolean;
  /** Returns the port of https that requests for a Host are redirected to. */
  readonly httpsPort: (host: EdgeHost | undefined) => number;
};

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
  /** Returns the key of the choice that says which. */
  choiceOf(domain: string): string;
  /**
   * Returns the guard of a domain. `declares`: a ProxyConfig has routes there, which are served as
   * it says.
   */
  of(domain: string, declares: boolean): HostGuard;
};

const NONE: HostGuard = { first: [], insecure: [], perFilter: {} };

/**
 * Returns the guards of all virtual hosts of the edge. A TLS connection serves its own Host's
 * names. Its handshake decided whether a client's certificate is required there, and HTTP/2 lets a
 * client ask it for any host.
 */
export function hostGuards(
  hosts: readonly EdgeHost[],
  { covers: isCovered, ownerOf }: HostCover,
  port: GuardedPort,
): HostGuards {
  const isBound = (host: EdgeHost | undefined) => host === undefined || port.binds(host);
  const covers = (domain: string) => isCovered(domain) && isBound(ownerOf(domain));
  const hasTls = hosts.some(({ tls }) => tls !== undefined);
  const redirects = hosts.every(({ insecure }) => insecure === 'Redirect');
  const uncovered = (domain: string, declares: boolean): HostGuard => ({
    ...NONE,
    first: hasTls ? [misdirected(GATEWAY_ROUTE, undefined)] : [],
    insecure: redirects && !declares && !covers(domain) ? redirectAll(port) : [],
  });
  return {
    // A guard of `*` always answers for what no Host covers.
    hostnames: [
      ...new Set([...hosts.map(({ hostname }) => hostname), ...(covers('*') ? [] : ['*'])]),
    ],
    covers,
    choiceOf: domain => choiceOf(ownerOf(domain)),
    of: (domain, declares) => {
      const owner = ownerOf(domain);
      if (owner === undefined) return uncovered(domain, declares);
      return isBound(owner) ? guardOf(owner, hasTls, port) : unboundGuard(owner, hasTls);
    },
  };
}

/** Nothing is served for the names of a Host that is reached at other ports. */
function unboundGuard({ id }: EdgeHost, hasTls: boolean): HostGuard {
  const direct_response = {
    status: 404,
    body: { inline_string: body('This host is not served at this port.', 404) },
  };
  const answer = { name: id, match: { prefix: '/' }, direct_response };
  const first = [
    ...(hasTls ? [misdirected(id, undefined)] : []),
    { ...answer, ...JSON_ANSWER, ...WITHOUT_FILTERS },
  ];
  return { ...NONE, first };
}

function guardOf(host: EdgeHost, hasTls: boolean, port: GuardedPort): HostGuard {
  const { hostname, hsts, id, insecure, tls } = host;
  const first = hasTls
    ? [misdirected(id, typeof tls === 'object' ? hostMark(hostname, tls) : undefined)]
    : [];
  if (insecure === 'closed') return { ...NONE, first: [closed(id, { prefix: '/' })] };
  return {
    first: typeof tls === 'object' && tls.isOrdered ? [...first, challengeRoute(id)] : first,
    insecure: insecure === 'Route' ? [] : insecureRoutes(host, insecure, port),
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

/** Where clients present certificates, only the connection knows. */
function insecureRoutes(
  host: EdgeHost,
  action: 'Redirect' | 'Reject',
  { httpsPort, security }: GuardedPort,
): readonly JsonObject[] {
  const { id, tls } = host;
  const needsConnection = typeof tls === 'object' && tls.authorities !== undefined;
  const conditions = needsConnection ? [WITHOUT_TLS] : insecureRequests(security);
  if (conditions === undefined) return [];
  const match = { prefix: '/', headers: conditions };
  if (action === 'Redirect') return toHttps(id, conditions, httpsPort(host));
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
function redirectAll({ httpsPort, security }: GuardedPort): readonly JsonObject[] {
  const conditions = insecureRequests(security);
  return conditions === undefined ? [] : toHttps(GATEWAY_ROUTE, conditions, httpsPort(undefined));
}

/**
 * Returns the conditions of requests without TLS. A trusted proxy in front may know them better
 * than the connection.
 * @returns undefined when there are no such requests
 */
function insecureRequests(security: SecurityModel): readonly JsonObject[] | undefined {
  if (security === 'SECURE') return undefined;
  return security === 'INSECURE' ? [] : [NOT_HTTPS];
}

const WITHOUT_TLS: JsonObject = { name: HOST_HEADER, present_match: true, invert_match: true };

const NOT_HTTPS: JsonObject = {
  name: 'x-forwarded-proto',
  string_match: { exact: 'https' },
  invert_match: true,
};

function body(message: string, status_code: number): string {
  return JSON.stringify({ message, status_code });
}

const JSON_ANSWER: JsonObject = {
  response_headers_to_add: [setHeader('content-type', 'application/json')],
};

const ACME = '/.well-known/acme-challenge/';

/** RFC 8555, section 8.1: a token is base64url. */
const TOKEN = '[A-Za-z0-9_-]{1,128}';

/**
 * Returns the route of an ACME authority's question over HTTP (RFC 8555, section 8.3). The
 * discovery service answers, which ordered the certificate. It is asked without credentials.
 */
function challengeRoute(name: string): JsonObject {
  return {
    name,
    match: { safe_regex: { regex: `${quoteRegex(ACME)}${TOKEN}` } },
    route: { cluster: CHALLENGE_CLUSTER, timeout: '5s' },
    request_headers_to_remove: ['authorization', 'cookie'],
    ...WITHOUT_FILTERS,
  };
}

/**
 * Returns whether a route is for the proof of an ACME provider, which asks without TLS (RFC 8555,
 * section 8.3).
 */
export function isAcmeRoute({ route }: RouteEntry): boolean {
  const { path, prefix } = route.match as { readonly path?: string; readonly prefix?: string };
  return (prefix ?? path ?? '').startsWith(ACME);
}
