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
  /** Key of the session's record that a step-up ends. */
  readonly replaces?: string;
};

/** The attempt of another origin that a login is for. */
export type HandoffTarget = {
  /** Its `state`. */
  readonly id: string;
  /** As its browser sees it. */
  readonly origin: string;
};

/**
 * A login that goes on elsewhere. Its browser keeps it, sealed in a cookie, so that no number of
 * logins that others begin can push it out.
 */
export type Attempt = Wish & {
  /** At the provider its `state`. At the origin that holds the login the id of a hand-off. */
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** The hand-off that it is for. */
  readonly handoff?: HandoffTarget;
  /** What nonce and verifier come from, with the store key. */
  readonly seed: string;
};

type Begun = Wish & Pick<Attempt, 'handoff'>;

export function newAttempt(filter: LoginFilter, begun: Begun): Attempt {
  const seed = newSeed(filter.sources.randomBytes);
  return { ...begun, state: newState(filter), seed, ...secretsOf(filter, seed) };
}

/** What a cookie holds of an attempt at this origin. */
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

/** Undefined for what is no attempt of this Filter at this origin, or one that took too long. */
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

/** Made anew each time, so that the cookie is shorter. */
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
