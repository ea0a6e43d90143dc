import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import type { Place } from '#ext-authz/oauth2/session/origin.ts';
import { isOpenState, newState } from '#ext-authz/oauth2/session/state.ts';
import type { SameSite } from '#ext-authz/policy/rule.ts';
import { storeName } from '#ext-authz/store/sealed-record.ts';
import { newSeed, openText, sealText, type TextScope } from '#ext-authz/store/sealed-text.ts';

/** What a request that needs a login leaves behind. */
export type Wish = {
  readonly returnUrl: string;
  readonly scope: readonly string[];
  readonly sameSite?: SameSite;
  readonly sessionCookies: boolean;
  /** The key of the session's record that a step-up ends. */
  readonly replaces?: string;
};

/** The attempt of another origin that a login is for. */
export type HandoffTarget = {
  /** Its `state`. */
  readonly id: string;
  /** The origin as its browser sees it. */
  readonly origin: string;
};

/**
 * A login that goes on elsewhere. Its browser keeps it, sealed in a cookie. Logins that others
 * begin thus cannot evict it, whatever their number.
 */
export type Attempt = Wish & {
  /** Its `state` at the provider. At the origin that holds the login it is the id of a hand-off. */
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** The hand-off that it is for. */
  readonly handoff?: HandoffTarget;
  /** The text from which nonce and verifier are derived, with the store key. */
  readonly seed: string;
};

type Begun = Wish & Pick<Attempt, 'handoff'>;

export function newAttempt(filter: LoginFilter, begun: Begun): Attempt {
  const seed = newSeed(filter.sources.randomBytes);
  return { ...begun, state: newState(filter), seed, ...secretsOf(filter, seed) };
}

/** Returns what a cookie holds of an attempt at this origin. */
export function sealAttempt(filter: LoginFilter, place: Place, attempt: Attempt): string {
  const { codeVerifier: _, nonce: __, returnUrl, seed, ...value } = attempt;
  const isHere = returnUrl.startsWith(`${place.origin}/`);
  const stored = { ...value, target: isHere ? returnUrl.slice(place.origin.length) : returnUrl };
  return sealText(
    filter.storeKey,
    scopeOf(filter, place),
    { seed, value: stored },
    filter.sources.randomBytes,
  );
}

/**
 * Opens what `sealAttempt` made.
 * @returns undefined when it is not an attempt of this Filter at this origin, or took too long
 */
export function openAttempt(filter: LoginFilter, place: Place, text: string): Attempt | undefined {
  const opened = openText(filter.storeKey, scopeOf(filter, place), text);
  if (opened === undefined) return undefined;
  const { seed } = opened;
  const { target, ...value } = opened.value as Omit<Attempt, 'returnUrl'> & {
    readonly target: string;
  };
  if (!isOpenState(filter, value.state)) return undefined;
  const returnUrl = target.startsWith('/') ? `${place.origin}${target}` : target;
  return { ...value, returnUrl, seed, ...secretsOf(filter, seed) };
}

/** Derives the secrets each time, so that the cookie is shorter. */
function secretsOf(
  { sealRealm: realm, storeKey }: LoginFilter,
  seed: string,
): Pick<Attempt, 'nonce' | 'codeVerifier'> {
  const secret = (kind: string) =>
    Buffer.from(storeName(storeKey, { kind, realm }, [seed]), 'hex').toString('base64url');
  return { nonce: secret('nonce'), codeVerifier: secret('code verifier') };
}

function scopeOf({ sealRealm: realm }: LoginFilter, { origin }: Place): TextScope {
  return { kind: 'attempt', realm, boundTo: [origin] };
}
