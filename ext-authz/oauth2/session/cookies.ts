import { nameAsRead } from '#ext-authz/http/gateway-cookies.ts';
import type { HeaderFields } from '#ext-authz/http/http-request.ts';
import type { SameSite } from '#ext-authz/policy/rule.ts';
import type { Place } from './origin.ts';
import { LOGIN_SECONDS } from './state.ts';

export type SetCookie = readonly [name: 'set-cookie', value: string];

export const SESSION = 'gateway_session';
export const XSRF = 'gateway_xsrf';
export const PENDING = 'gateway_pending';

/** Browsers accept such a cookie from this very host only, over https. */
const HOST_ONLY = '__Host-';

/** Browsers keep 180 cookies of a site. A neighbour may have planted all but one. */
const ENOUGH = 200;

/**
 * Returns the different values that a cookie of this name has in a request, at most 200. Each
 * `Cookie` field is read by itself (RFC 6265 section 5.4). Names are compared exactly.
 */
export function cookieValues(headers: HeaderFields, name: string): readonly string[] {
  const values: string[] = [];
  for (const field of headers.get('cookie') ?? []) collect(field, `${name}=`, values);
  return values;
}

function collect(field: string, prefix: string, values: string[]): void {
  for (let from = field.indexOf(prefix); from !== -1; from = field.indexOf(prefix, from + 1)) {
    if (values.length === ENOUGH) return;
    if (!beginsPair(field, from)) continue;
    const end = field.indexOf(';', from);
    const value = field.slice(from + prefix.length, end === -1 ? undefined : end).trim();
    if (!values.includes(value)) values.push(value);
  }
}

function beginsPair(field: string, index: number): boolean {
  let before = index - 1;
  while (field[before] === ' ' || field[before] === '\t') before -= 1;
  return before < 0 || field[before] === ';';
}

/**
 * Returns the different values of all cookies that an application may take for the one of this
 * name, at most 200. The gateway itself reads none of them but by `cookieValues`.
 */
export function valuesAsRead(headers: HeaderFields, name: string): readonly string[] {
  const [own, values] = [nameAsRead(name), new Set<string>()];
  for (const pair of (headers.get('cookie') ?? []).flatMap(field => field.split(';'))) {
    const begin = pair.indexOf('=');
    if (begin === -1 || nameAsRead(pair.slice(0, begin)) !== own) continue;
    values.add(pair.slice(begin + 1).trim());
    if (values.size === ENOUGH) break;
  }
  return [...values];
}

export type CookieAttributes = {
  /** Whole seconds. Undefined means until the browser closes. */
  readonly maxAge: number | undefined;
  readonly sameSite: SameSite | undefined;
  readonly httpOnly: boolean;
  readonly domain: string | undefined;
  readonly secure: boolean;
};

/** Writes a `Set-Cookie` field for all paths (RFC 6265 section 4.1, SameSite: RFC 6265bis). */
function setCookie(name: string, value: string, attributes: CookieAttributes): SetCookie {
  const { domain, httpOnly, maxAge, sameSite, secure } = attributes;
  const parts = [
    `${name}=${value}`,
    'Path=/',
    domain === undefined ? '' : `Domain=${domain}`,
    maxAge === undefined ? '' : `Max-Age=${maxAge}`,
    httpOnly ? 'HttpOnly' : '',
    secure ? 'Secure' : '',
    sameSite === undefined ? '' : `SameSite=${SAME_SITE[sameSite]}`,
  ];
  return ['set-cookie', parts.filter(part => part !== '').join('; ')];
}

const SAME_SITE: Readonly<Record<SameSite, string>> = {
  lax: 'Lax',
  strict: 'Strict',
  none: 'None',
};

/** What a session's cookies show of it. */
export type CookieSession = {
  readonly xsrf: string;
  readonly sameSite?: SameSite;
  readonly sessionCookies: boolean;
  readonly ends: number;
};

/**
 * Returns the names that a session's id has in cookies, the one that counts last.
 * `gateway_session.<realm>` is the public name, which a neighbour below the same domain may plant.
 * Some browsers know a prefix for host-only cookies (RFC 6265bis section 4.1.3). There the cookie
 * with the prefix counts alone. With includeSubdomains the cookie needs `Domain`, which the prefix
 * excludes.
 */
export function sessionNames(
  realm: string,
  place: Pick<Place, 'secure' | 'includeSubdomains'>,
): readonly string[] {
  const name = `${SESSION}.${realm}`;
  return isHostOnly(place) ? [name, `${HOST_ONLY}${name}`] : [name];
}

export function isHostOnly({
  includeSubdomains,
  secure,
}: Pick<Place, 'secure' | 'includeSubdomains'>): boolean {
  return secure && !includeSubdomains;
}

/** Returns the cookies of a session, until its latest end. */
export function sessionCookies(
  realm: string,
  place: Place,
  id: string,
  session: CookieSession,
  now: number,
): readonly SetCookie[] {
  const attributes = { ...attributesOf(place, session, now), httpOnly: true };
  return [
    ...sessionNames(realm, place).map(name => setCookie(name, id, attributes)),
    xsrfCookie(realm, place, session, now),
  ];
}

/** Returns the cookie that scripts may read. */
export function xsrfCookie(
  realm: string,
  place: Place,
  session: CookieSession,
  now: number,
): SetCookie {
  return setCookie(`${XSRF}.${realm}`, session.xsrf, attributesOf(place, session, now));
}

function attributesOf(place: Place, session: CookieSession, now: number): CookieAttributes {
  return {
    maxAge: session.sessionCookies
      ? undefined
      : Math.max(1, Math.ceil((session.ends - now) / 1000)),
    sameSite: session.sameSite,
    httpOnly: false,
    domain: domainOf(place),
    secure: place.secure,
  };
}

/**
 * `Domain` is the origin's host, and only with includeSubdomains. See
 * docs/reference/kinds/filter.md.
 */
function domainOf({ host, includeSubdomains }: Place): string | undefined {
  return includeSubdomains ? host : undefined;
}

/**
 * Clears the cookies of a session in the form in which they are set, or with and without `Domain`.
 */
export function clearSessionCookies(
  realm: string,
  place: Place,
  sameSite: SameSite | undefined,
  forms: 'own form' | 'both forms',
): readonly SetCookie[] {
  const domains = forms === 'own form' ? [domainOf(place)] : [place.host, undefined];
  return domains.flatMap(domain => {
    const attributes = { maxAge: 0, sameSite, domain, secure: place.secure };
    const names = sessionNames(realm, { ...place, includeSubdomains: domain !== undefined });
    return [
      ...names.map(name => setCookie(name, '', { ...attributes, httpOnly: true })),
      setCookie(`${XSRF}.${realm}`, '', { ...attributes, httpOnly: false }),
    ];
  });
}

/**
 * Returns the beginning of the names of cookies that hold attempts (pending-cookies.ts). They are
 * host-only, so that over https a prefix keeps neighbours from planting theirs (RFC 6265bis section
 * 4.1.3).
 */
export function pendingPrefix(realm: string, { secure }: Pick<Place, 'secure'>): string {
  return `${secure ? HOST_ONLY : ''}${PENDING}.${realm}`;
}

/** Returns one of them. An empty value clears it. */
export function pendingCookie(name: string, place: Place, value: string): SetCookie {
  const maxAge = value === '' ? 0 : LOGIN_SECONDS;
  return setCookie(name, value, { ...pendingAttributes(place), maxAge, httpOnly: true });
}

/** Returns the cookie to which a script of the gateway gives a value. */
export function fragmentCookie(name: string, place: Place): string {
  const attributes = { ...pendingAttributes(place), maxAge: LOGIN_SECONDS, httpOnly: false };
  return setCookie(name, '', attributes)[1];
}

function pendingAttributes({ secure }: Place) {
  return { sameSite: 'lax', domain: undefined, secure } as const;
}
