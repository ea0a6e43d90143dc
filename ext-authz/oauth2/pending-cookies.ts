import { hash } from 'node:crypto';
import type { HttpRequest } from '../http-request.ts';
import { isSecret, newSecret, type RandomBytes } from '../store/sealed-record.ts';
import type { Wish } from './attempt.ts';
import { PENDING, pendingCookie, type SetCookie } from './cookies.ts';
import type { LoginFilter } from './login-filter.ts';
import { isNavigation } from './navigation.ts';
import type { Place } from './origin.ts';
import { sameText } from './same-text.ts';
import type { Session } from './session.ts';

type Asked = Pick<HttpRequest, 'headers'>;
type OfRealm = Pick<LoginFilter, 'realm'>;
type Cookie = { readonly name: string; readonly value: string };

/** So many count, the newest of a request; others are cleared, as many at a time. */
const MOST = 16;
const SUFFIX = /^~[0-9a-f]{8}$/;

/**
 * The cookies that bind attempts to the browser that began them, each 256 random bits. One is enough, since a request brings it that begins another
 * attempt. But tabs that open at the same moment bring none: so that their answers do not replace each other's, a navigation without any gets one
 * of a name of its own. A name with different values does not count, nor does what we did not make.
 */
function pendingHashes(filter: OfRealm, request: Asked): readonly string[] {
  return countedOf(cookiesOf(filter, request)).map(({ value }) => pendingHash(value));
}

/** Whether a record's hash is that of one of them; in constant time. */
export function isPendingHere(filter: OfRealm, request: Asked, hashed: string): boolean {
  return pendingHashes(filter, request).some(own => sameText(own, hashed));
}

/** The hash that an attempt of this request is bound to, and the cookies to set: the one that it is of lasts for ten minutes more. */
export function bindAttempt(
  filter: OfRealm & { readonly sources: { readonly randomBytes: RandomBytes } },
  place: Place,
  request: Asked,
): { readonly pending: string; readonly cookies: readonly SetCookie[] } {
  const all = cookiesOf(filter, request);
  const { randomBytes } = filter.sources;
  const { name, value } = countedOf(all).at(-1) ?? {
    name: newName(filter, request, randomBytes),
    value: newSecret(randomBytes),
  };
  const cleared = surplusOf(all).map(other => pendingCookie(other.name, place, ''));
  return { pending: pendingHash(value), cookies: [...cleared, pendingCookie(name, place, value)] };
}

/** Clears what a request brings: its browser is logged in. */
export function clearPending(filter: OfRealm, place: Place, request: Asked): readonly SetCookie[] {
  const all = cookiesOf(filter, request);
  return [...surplusOf(all), ...countedOf(all)].map(({ name }) => pendingCookie(name, place, ''));
}

/** The same after a login, but where another tab could not show its session instead: browsers keep back strict cookies here. */
export function donePending(
  filter: OfRealm,
  place: Place,
  request: Asked,
  { sameSite }: Pick<Session, 'sameSite'>,
): readonly SetCookie[] {
  return sameSite === 'strict' ? [] : clearPending(filter, place, request);
}

/** All that a session of this login is known by: its attempt's, those that the browser brings, and those of its session before. */
export function knownBy(
  filter: OfRealm,
  request: Asked,
  { pending }: Pick<Wish, 'pending'>,
  before: Pick<Session, 'pending'> | undefined,
): readonly string[] {
  const all = [pending, ...pendingHashes(filter, request), ...(before?.pending ?? [])];
  return [...new Set(all)].slice(0, MOST);
}

/** What records keep of a pending cookie. */
function pendingHash(value: string): string {
  return hash('sha256', `gateway pending 1 ${value}`);
}

/** Only what may lead to a login gets a name of its own: of a page's other requests there may be hundreds at once. */
function newName({ realm }: OfRealm, request: Asked, randomBytes: RandomBytes): string {
  if (!isNavigation(request)) return `${PENDING}.${realm}`;
  return `${PENDING}.${realm}~${Buffer.from(randomBytes(4)).toString('hex')}`;
}

function countedOf(cookies: readonly Cookie[]): readonly Cookie[] {
  return cookies.slice(-MOST);
}

function surplusOf(cookies: readonly Cookie[]): readonly Cookie[] {
  return cookies.slice(0, -MOST).slice(0, MOST);
}

function cookiesOf({ realm }: OfRealm, { headers }: Asked): readonly Cookie[] {
  const found = new Map<string, Set<string>>();
  for (const field of headers.get('cookie') ?? []) collect(field, `${PENDING}.${realm}`, found);
  return [...found].flatMap(([name, [value = '', ...others]]) =>
    others.length === 0 && isSecret(value) ? [{ name, value }] : [],
  );
}

/** RFC 6265 section 5.4: each field is read by itself. */
function collect(field: string, prefix: string, found: Map<string, Set<string>>): void {
  if (!field.includes(prefix)) return;
  for (const pair of field.split(';')) {
    const begin = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, begin)).trim();
    if (!name.startsWith(prefix)) continue;
    const suffix = name.slice(prefix.length);
    if (suffix !== '' && !SUFFIX.test(suffix)) continue;
    found.set(name, (found.get(name) ?? new Set()).add(pair.slice(begin + 1).trim()));
  }
}
