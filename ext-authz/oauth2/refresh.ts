import type { Provider } from '../provider/provider.ts';
import { ProviderError } from '../provider/provider-error.ts';
import type { TokenSet } from '../provider/token-answer.ts';
import type { RecordStore } from '../store/record-store.ts';
import { newSecret, sealOfSecret } from '../store/sealed-record.ts';
import type { LoginSettings, Sources } from './login-filter.ts';
import { type Session, withTokens } from './session.ts';
import type { LoadedSession, SessionRecords } from './session-records.ts';

/** How a refresh comes out. `ended`: logged out meanwhile, or the provider refused: log in again. */
export type Refreshed =
  | { readonly kind: 'refreshed'; readonly session: Session }
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly error: unknown };

export type RefreshOptions = {
  readonly realm: string;
  readonly settings: Pick<LoginSettings, 'clientSessionMaxIdle'>;
  readonly provider: Pick<Provider, 'refresh'>;
  readonly store: RecordStore;
  readonly sessions: SessionRecords;
  readonly sources: Sources;
};

/** How long a refresh may go on, though no request waits for it any more. */
const REFRESH_MS = 9_000;
/** Longer than any refresh, so that two never overlap. */
const LEASE_MS = REFRESH_MS + 3_000;
/** How long a request waits: so that its own 4 s suffice for an answer. */
const PATIENCE_MS = 3_000;
const POLL_MS = 50;
/** A failed refresh is not repeated sooner. */
const REST_MS = 1_000;
const MOST_AT_REST = 1_000;
const TRIES = 5;

/**
 * Refreshes sessions of one realm (RFC 6749 section 6): once per session however many requests and replicas see it. Never rejects.
 * Source: decisions, "Refresh happens in line".
 */
export class Refreshes {
  readonly #options: RefreshOptions;
  readonly #running = new Map<string, Promise<Refreshed>>();
  readonly #resting = new Map<string, { readonly until: number; readonly outcome: Refreshed }>();

  constructor(options: RefreshOptions) {
    this.#options = options;
  }

  /** Waits for 3 s at most; the refresh goes on behind, and its result is stored. */
  async refresh(loaded: LoadedSession, signal: AbortSignal): Promise<Refreshed> {
    const enough = new AbortController();
    const waiting = AbortSignal.any([signal, enough.signal]);
    const late = this.#options.sources.pause(PATIENCE_MS, waiting).then(() => LATE);
    const outcome = await Promise.race([this.#shared(loaded), late]);
    enough.abort();
    return outcome;
  }

  #shared(loaded: LoadedSession): Promise<Refreshed> {
    const resting = this.#resting.get(loaded.key);
    if (resting !== undefined && resting.until > this.#options.sources.now())
      return Promise.resolve(resting.outcome);
    const running = this.#running.get(loaded.key) ?? this.#start(loaded);
    this.#running.set(loaded.key, running);
    return running;
  }

  async #start(loaded: LoadedSession): Promise<Refreshed> {
    const outcome = await this.#leased(loaded).catch((error): Refreshed => ({ kind: 'failed', error }));
    this.#running.delete(loaded.key);
    this.#resting.delete(loaded.key);
    if (outcome.kind === 'failed') this.#rest(loaded.key, outcome);
    return outcome;
  }

  #rest(key: string, outcome: Refreshed): void {
    const [oldest] = this.#resting.keys();
    if (this.#resting.size >= MOST_AT_REST && oldest !== undefined) this.#resting.delete(oldest);
    this.#resting.set(key, { until: this.#options.sources.now() + REST_MS, outcome });
  }

  /** Whoever has the lease refreshes; the others wait until the record is another one. */
  async #leased(loaded: LoadedSession): Promise<Refreshed> {
    const { realm, sessions, sources, store } = this.#options;
    const lease = sealOfSecret(loaded.id, { kind: 'refresh', realm }).key;
    const holder = newSecret(sources.randomBytes);
    for (let waited = 0; waited <= LEASE_MS; waited += POLL_MS) {
      const mine = await store.acquire(lease, holder, LEASE_MS);
      try {
        const current = await sessions.read(loaded.id);
        if (current === undefined) return { kind: 'refused' };
        if (wasRefreshed(loaded, current)) return { kind: 'refreshed', session: current.session };
        if (mine) return await this.#ask(current);
      } finally {
        if (mine) await store.release(lease, holder).catch(() => {});
      }
      await sources.pause(POLL_MS);
    }
    return LATE;
  }

  async #ask(loaded: LoadedSession): Promise<Refreshed> {
    const { refreshToken, idToken } = loaded.session;
    if (refreshToken === undefined) return { kind: 'refused' };
    const request = { refreshToken, previous: idToken.claims };
    try {
      const tokens = await this.#options.provider.refresh(request, AbortSignal.timeout(REFRESH_MS));
      return await this.#keep(loaded, tokens);
    } catch (error) {
      return endsSession(error) ? this.#end(loaded) : { kind: 'failed', error };
    }
  }

  /** Stored before it is used, and only if the session is still there: a logout wins. */
  async #keep(loaded: LoadedSession, tokens: TokenSet): Promise<Refreshed> {
    const { sessions, settings, sources } = this.#options;
    let current: LoadedSession | undefined = loaded;
    for (let tries = 0; tries < TRIES && current !== undefined; tries += 1) {
      const now = sources.now();
      const session = withTokens(current.session, tokens, settings.clientSessionMaxIdle, now);
      if (await sessions.replace(current, session, now)) return { kind: 'refreshed', session };
      current = await sessions.read(loaded.id);
    }
    return { kind: 'refused' };
  }

  /** Unless somebody else has refreshed it: then our refusal is about a token that was used before. */
  async #end(loaded: LoadedSession): Promise<Refreshed> {
    const { sessions } = this.#options;
    const current = await sessions.read(loaded.id);
    if (current !== undefined && wasRefreshed(loaded, current))
      return { kind: 'refreshed', session: current.session };
    await sessions.remove(loaded.key);
    return { kind: 'refused' };
  }
}

const LATE: Refreshed = {
  kind: 'failed',
  error: new ProviderError('timeout', 'the token endpoint: the refresh takes too long'),
};

function wasRefreshed({ session: before }: LoadedSession, { session: after }: LoadedSession): boolean {
  return before.accessToken !== after.accessToken || before.accessTokenEnds !== after.accessTokenEnds;
}

/** `invalid_grant` (RFC 6749 section 5.2), or an ID token that does not continue the login (OpenID Connect Core section 12.2). */
function endsSession(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  return error.code === 'invalid_id_token' || error.oauthError === 'invalid_grant';
}
