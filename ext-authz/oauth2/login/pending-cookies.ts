import { hash } from 'node:crypto';
import { withFragment } from '#ext-authz/http/fragment.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import {
  fragmentCookie,
  pendingCookie,
  pendingPrefix,
  type SetCookie,
} from '#ext-authz/oauth2/session/cookies.ts';
import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import type { Place } from '#ext-authz/oauth2/session/origin.ts';
import type { Session } from '#ext-authz/oauth2/session/session.ts';
import { sameText } from '#ext-authz/provider/same-text.ts';
import type { RandomBytes } from '#ext-authz/store/sealed-record.ts';
import { type Attempt, openAttempt, sealAttempt } from './attempt.ts';
import { isNavigation } from './navigation.ts';
import { fragmentName, type PendingField, partsOf, pendingFields } from './pending-fields.ts';

type Asked = Pick<HttpRequest, 'headers'>;

/** How many logins a browser may have begun at one origin, one after the other. */
const MOST = 16;
/** How many it may have begun at once, as when it opens the tabs of yesterday again. */
const MOST_AT_ONCE = 64;
/**
 * How many bytes they may take of a `Cookie` field. Envoy accepts 60 KiB for all headers of a
 * request.
 */
const MOST_BYTES = 24 * 1024;
/** How many surplus cookies are cleared at a time. */
const MOST_CLEARED = 48;

/** Returns the Filter's newest attempts that a request brings, the newest last. */
function broughtAttempts(
  filter: LoginFilter,
  place: Place,
  request: Asked,
  most: number,
): readonly Attempt[] {
  const fields = pendingFields(request, pendingPrefix(filter.realm, place));
  return fields.slice(-most).flatMap(({ fragment, text }) => {
    const attempt = openAttempt(filter, place, text);
    return attempt ? { ...attempt, returnUrl: withFragment(attempt.returnUrl, fragment) } : [];
  });
}

/** Returns the attempt of this state, when this browser began it at this origin. */
export function broughtAttempt(
  filter: LoginFilter,
  place: Place,
  request: Asked,
  state: string,
): Attempt | undefined {
  const attempts = broughtAttempts(filter, place, request, MOST_AT_ONCE);
  return attempts.find(attempt => sameText(attempt.state, state));
}

/** Returns the attempt that this browser began last at this origin. */
export function newestAttempt(
  filter: LoginFilter,
  place: Place,
  request: Asked,
): Attempt | undefined {
  return broughtAttempts(filter, place, request, 1).at(-1);
}

/**
 * Returns the cookies that let the browser keep an attempt. When there are many, they evict the
 * oldest ones. `fragment` is one that a page may also set.
 */
export function keepAttempt(
  filter: LoginFilter,
  place: Place,
  request: Asked,
  attempt: Attempt,
): { readonly cookies: readonly SetCookie[]; readonly fragment: string } {
  const prefix = pendingPrefix(filter.realm, place);
  const all = pendingFields(request, prefix);
  const name = newName(prefix, all, request, filter.sources.randomBytes);
  const parts =
    partsOf(name, sealAttempt(filter, place, attempt)) ?? short(filter, place, name, attempt);
  const bytes = parts.reduce((sum, [part, value]) => sum + part.length + value.length, 0);
  const cleared = surplusOf(all, MOST_BYTES - bytes).flatMap(({ names }) => names);
  const cookies = [
    ...cleared.slice(0, MOST_CLEARED).map(other => pendingCookie(other, place, '')),
    ...parts.map(([part, value]) => pendingCookie(part, place, value)),
  ];
  return { cookies, fragment: fragmentCookie(fragmentName(name), place) };
}

/** The link was too long. */
function short(
  filter: LoginFilter,
  place: Place,
  name: string,
  attempt: Attempt,
): readonly (readonly [string, string])[] {
  const sealed = sealAttempt(filter, place, { ...attempt, returnUrl: `${place.origin}/` });
  return partsOf(name, sealed) ?? [];
}

/** Clears what a request brings of this attempt, which has ended. */
export function dropAttempt(
  filter: LoginFilter,
  place: Place,
  request: Asked,
  { state }: Attempt,
): readonly SetCookie[] {
  const own = pendingFields(request, pendingPrefix(filter.realm, place)).find(({ text }) => {
    const attempt = openAttempt(filter, place, text);
    return attempt !== undefined && sameText(attempt.state, state);
  });
  return (own?.names ?? []).map(name => pendingCookie(name, place, ''));
}

/**
 * Returns all logins by which a session of this attempt is known. They are those that its browser
 * has begun, and those of its session before. A tab that comes back later goes on with that
 * session.
 */
export function knownBy(
  filter: LoginFilter,
  place: Place,
  request: Asked,
  attempt: Attempt,
  before: Pick<Session, 'pending'> | undefined,
): readonly string[] {
  const begun = [attempt, ...broughtAttempts(filter, place, request, MOST)].map(({ state }) =>
    stateHash(state),
  );
  return [...new Set([...begun, ...(before?.pending ?? [])])].slice(0, MOST);
}

/** Returns whether a session belongs to the browser that began this login. */
export function isKnownBy({ pending }: Pick<Session, 'pending'>, { state }: Attempt): boolean {
  const own = stateHash(state);
  return pending.some(known => sameText(known, own));
}

function stateHash(state: string): string {
  return hash('sha256', `gateway state 1 ${state}`);
}

/**
 * Tabs that open at the same moment bring the same cookies. Each gets a name of its own, so that
 * their answers do not replace each other's. Other requests of a page may be hundreds at once. They
 * share the first name that is free.
 */
function newName(
  prefix: string,
  all: readonly PendingField[],
  request: Asked,
  randomBytes: RandomBytes,
): string {
  if (isNavigation(request)) return `${prefix}~${Buffer.from(randomBytes(4)).toString('hex')}`;
  const taken = new Set(all.map(({ name }) => name));
  const shared = Array.from({ length: MOST }, (_, index) => sharedName(prefix, index));
  const oldest = all.find(({ name }) => shared.includes(name))?.name;
  return shared.find(name => !taken.has(name)) ?? oldest ?? prefix;
}

function sharedName(prefix: string, index: number): string {
  return index === 0 ? prefix : `${prefix}~${index.toString(16).padStart(8, '0')}`;
}

/**
 * Returns the oldest ones, when there are too many beside a new one, or they take more than `room`.
 */
function surplusOf(all: readonly PendingField[], room: number): readonly PendingField[] {
  let [kept, bytes] = [0, 0];
  for (const field of all.toReversed()) {
    bytes += field.bytes;
    if (kept === MOST - 1 || bytes > room) break;
    kept += 1;
  }
  return all.slice(0, all.length - kept);
}
