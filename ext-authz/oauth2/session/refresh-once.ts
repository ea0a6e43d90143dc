import type { Provider } from '#ext-authz/provider/provider.ts';
import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import type { TokenSet } from '#ext-authz/provider/token-answer.ts';
import { type RecordStore, StoreUnavailable } from '#ext-authz/store/record-store.ts';
import { newSecret, sealOfSecret } from '#ext-authz/store/sealed-record.ts';
import type { LoginSettings, Sources } from './login-settings.ts';
import { type Session, withTokens } from './session.ts';
import type { LoadedSession, SessionRecords } from './session-records.ts';

/**
 * The result of a refresh. `refused` means that the user must log in again. The user has logged out
 * meanwhile, or the provider refused. The log is told the `reason`.
 */
export type Refreshed =
  | { readonly kind: 'refreshed'; readonly session: Session }
  | { readonly kind: 'refused'; readonly reason?: string }
  | { readonly kind: 'failed'; readonly error: unknown };

export type RefreshParts = {
  readonly realm: string;
  readonly settings: Pick<LoginSettings, 'clientSessionMaxIdle'>;
  readonly provider: Pick<Provider, 'refresh'>;
  readonly store: RecordStore;
  readonly sessions: SessionRecords;
  readonly sources: Sources;
};

/** How long the provider may take, even when no request waits for it any more. */
const REFRESH_MS = 9_000;
/** Longer than provider and store together, so that two refreshes never overlap. */
const LEASE_MS = REFRESH_MS + 5_000;
/** How long after its access token a session waits for the key of its new ID token. */
const UNPUBLISHED_MS = 600_000;
const POLL_MS = 50;
const LONGEST_PAUSE_MS = 500;
const TRIES = 5;

/**
 * Refreshes a session (RFC 6749 section 6), once however many replicas want to. The holder of the
 * lease asks the provider. The others wait until the record has changed. See
 * docs/adr/0014-session-store.md.
 */
export async function refreshOnce(parts: RefreshParts, loaded: LoadedSession): Promise<Refreshed> {
  const { realm, sessions, sources, store } = parts;
  const lease = sealOfSecret(loaded.id, { kind: 'refresh', realm }).key;
  const holder = newSecret(sources.randomBytes);
  for (let waited = 0, wait = POLL_MS; waited <= LEASE_MS; waited += wait) {
    const leaseEnds = sources.now() + LEASE_MS;
    let mine = true; // also when the store did not answer in time
    try {
      mine = await store.acquire(lease, holder, LEASE_MS);
      const current = await sessions.read(loaded.id);
      if (current === undefined) return { kind: 'refused' };
      if (wasRefreshed(loaded, current)) return { kind: 'refreshed', session: current.session };
      if (mine) return await ask(parts, current, leaseEnds);
    } finally {
      if (mine) await giveBack(sources, leaseEnds, () => store.release(lease, holder));
    }
    wait = pauseAfter(waited);
    await sources.pause(wait);
  }
  return LATE;
}

/** Many sessions may wait for one slow provider, and the store is there for all requests. */
function pauseAfter(waited: number): number {
  return Math.min(Math.max(POLL_MS, waited / 4), LONGEST_PAUSE_MS);
}

export const LATE: Refreshed = {
  kind: 'failed',
  error: new ProviderError('timeout', 'the token endpoint: the refresh takes too long'),
};

async function ask(
  parts: RefreshParts,
  loaded: LoadedSession,
  leaseEnds: number,
): Promise<Refreshed> {
  const { idToken, refreshToken } = loaded.session;
  if (refreshToken === undefined) return { kind: 'refused' };
  const keepToken = async (rotated: string) => {
    await change(parts, loaded, leaseEnds, session => ({ ...session, refreshToken: rotated }));
  };
  const request = { refreshToken, previous: idToken.claims, keep: keepToken };
  try {
    const tokens = await parts.provider.refresh(request, AbortSignal.timeout(REFRESH_MS));
    return await keep(parts, loaded, leaseEnds, tokens);
  } catch (error) {
    return endsSession(error, loaded.session, parts.sources.now())
      ? end(parts, loaded, error.message)
      : { kind: 'failed', error };
  }
}

/** Stores the session before it is used. */
async function keep(
  parts: RefreshParts,
  loaded: LoadedSession,
  leaseEnds: number,
  tokens: TokenSet,
): Promise<Refreshed> {
  const maxIdle = parts.settings.clientSessionMaxIdle;
  const session = await change(parts, loaded, leaseEnds, (before, now) =>
    withTokens(before, tokens, maxIdle, now),
  );
  return session === undefined ? { kind: 'refused' } : { kind: 'refreshed', session };
}

/**
 * Returns the session as it is stored then. A logout wins.
 * @returns undefined when the session is gone
 */
async function change(
  { sessions, sources }: RefreshParts,
  loaded: LoadedSession,
  leaseEnds: number,
  make: (before: Session, now: number) => Session,
): Promise<Session | undefined> {
  let current: LoadedSession | undefined = loaded;
  for (let tries = 0; tries < TRIES && current !== undefined; tries += 1) {
    const before: LoadedSession = current;
    const now = sources.now();
    const session = make(before.session, now);
    if (await persist(sources, leaseEnds, () => sessions.replace(before, session, now)))
      return session;
    current = await persist(sources, leaseEnds, async () => sessions.read(loaded.id));
  }
  return undefined;
}

/**
 * Retries while the lease lasts, because the store may be gone for a while. A rotated refresh token
 * would be lost with it, and a lease that is not given back would keep all others waiting.
 */
async function persist<T>(
  { now, pause }: Sources,
  leaseEnds: number,
  task: () => Promise<T>,
): Promise<T> {
  for (let wait = POLL_MS; ; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || now() > leaseEnds) throw error;
    }
    await pause(wait);
  }
}

/** Waits for the first try alone. */
async function giveBack(
  sources: Sources,
  leaseEnds: number,
  release: () => Promise<void>,
): Promise<void> {
  await release().catch(() => void persist(sources, leaseEnds, release).catch(() => {}));
}

/**
 * Ends the session unless another replica has refreshed it. The refusal is then about a token that
 * was used before.
 */
async function end(
  { sessions }: RefreshParts,
  loaded: LoadedSession,
  reason: string,
): Promise<Refreshed> {
  const current = await sessions.read(loaded.id);
  if (current !== undefined && wasRefreshed(loaded, current))
    return { kind: 'refreshed', session: current.session };
  await sessions.remove(loaded.key);
  return { kind: 'refused', reason };
}

function wasRefreshed(
  { session: before }: LoadedSession,
  { session: after }: LoadedSession,
): boolean {
  return (
    before.accessToken !== after.accessToken || before.accessTokenEnds !== after.accessTokenEnds
  );
}

/**
 * Returns true for an ID token that does not continue the login (OpenID Connect Core section 12.2),
 * and for a refusal that only another login mends. A key that is not published for so long is not
 * on its way.
 */
function endsSession(
  error: unknown,
  { accessTokenEnds }: Session,
  now: number,
): error is ProviderError {
  if (!(error instanceof ProviderError)) return false;
  if (error.code === 'invalid_id_token') return true;
  if (error.code === 'unverified_id_token') return now > accessTokenEnds + UNPUBLISHED_MS;
  return saysLogInAgain(error);
}

/**
 * A 400 is about the refresh token (RFC 6749 section 5.2), whatever its code. Keycloak says
 * `invalid_scope` when the user has withdrawn the consent, and Twitch has words instead of a code.
 * Some providers send the error with a 200. Codes that blame the client or the moment are not about
 * the token, and the session stays.
 */
function saysLogInAgain({ refusal, status }: ProviderError): boolean {
  if (refusal === undefined || NOT_THE_TOKEN.has(refusal)) return false;
  return status === 400 || status === 200 || LOG_IN_AGAIN.has(refusal);
}

const NOT_THE_TOKEN: ReadonlySet<string> = new Set([
  ...['invalid_client', 'unauthorized_client', 'unsupported_grant_type'],
  ...['server_error', 'temporarily_unavailable', 'slow_down'],
]);

/**
 * What is said of a refresh token with other statuses too, as UAA, Hydra and Auth0 do. Where the
 * user must act first, providers say what (OpenID Connect Core section 3.1.2.6).
 */
const LOG_IN_AGAIN: ReadonlySet<string> = new Set([
  ...['invalid_grant', 'invalid_request', 'invalid_token', 'token_inactive', 'access_denied'],
  ...['interaction_required', 'login_required', 'account_selection_required', 'consent_required'],
  'mfa_required',
]);
