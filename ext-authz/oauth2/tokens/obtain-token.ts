import type { KeyObject } from 'node:crypto';
import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import type { TokenSet } from '#ext-authz/provider/token-answer.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { type RecordSeal, storeName } from '#ext-authz/store/sealed-record.ts';
import type { Attempt, Limited, RefusedCredentials } from './refused-credentials.ts';
import {
  type GrantedToken,
  type GrantTerms,
  type TokenCache,
  toGrantedToken,
} from './token-cache.ts';

/** Credentials for which a token is wanted. */
export type Wanted = {
  readonly seal: RecordSeal;
  readonly attempt: Attempt;
  readonly terms: Omit<GrantTerms, 'askedAt'>;
  /** Asks the provider. Rejects with a ProviderError. */
  readonly ask: (signal: AbortSignal) => Promise<TokenSet>;
};

/** `refused` is about the credentials, `not_granted` about the scope. */
export type Obtained =
  | { readonly kind: 'token'; readonly token: GrantedToken; readonly isNew: boolean }
  /** `reason` is for the log. */
  | { readonly kind: 'refused' | 'not_granted'; readonly reason?: string }
  | Limited;

export type TokenObtainerParts = {
  readonly cache: TokenCache;
  readonly store: RecordStore;
  readonly storeKey: KeyObject;
  readonly refusals: RefusedCredentials;
  /** The error codes (RFC 6749 section 5.2) by which the provider refuses the credentials. */
  readonly refusedBy: readonly string[];
  /** ms since the epoch */
  readonly now: () => number;
  readonly deadline: () => AbortSignal;
};

type Flight = { readonly network: string; readonly obtained: Promise<Obtained> };

const REMEMBERED_MS = 1_000;
/** The requested scope is unknown, or more than the client may have. */
const NOT_GRANTED = 'invalid_scope';

/**
 * Gets tokens for credentials, from the cache or else from the provider. This process makes one
 * request at a time for the same credentials, which all callers share. A refusal is remembered for
 * 1 s. See docs/adr/0014-session-store.md and docs/adr/0013-providers.md.
 */
export class TokenObtainer {
  readonly #parts: TokenObtainerParts;
  readonly #flights = new Map<string, Flight>();

  constructor(parts: TokenObtainerParts) {
    this.#parts = parts;
  }

  /** Rejects with a ProviderError or StoreUnavailable. */
  async obtain(wanted: Wanted): Promise<Obtained> {
    for (;;) {
      const flight = this.#flights.get(wanted.seal.key) ?? this.#fly(wanted);
      const obtained = await flight.obtained;
      // The network of the other request may be limited. This one is tried by itself.
      if (obtained.kind !== 'limited' || flight.network === wanted.attempt.network) return obtained;
    }
  }

  /**
   * Drops a token that is not valid. The next request asks again, after 1 s when this one was new.
   */
  async discard(
    seal: RecordSeal,
    { isNew, token }: { readonly isNew: boolean; readonly token: GrantedToken },
  ): Promise<void> {
    await Promise.all([
      this.#parts.cache.drop(seal, token),
      isNew ? this.#remember(seal) : undefined,
    ]);
  }

  #fly(wanted: Wanted): Flight {
    const { key } = wanted.seal;
    const obtained = this.#obtain(wanted).finally(() => this.#flights.delete(key));
    const flight = { network: wanted.attempt.network, obtained };
    this.#flights.set(key, flight);
    return flight;
  }

  async #obtain(wanted: Wanted): Promise<Obtained> {
    const { cache, refusals } = this.#parts;
    const { attempt, seal } = wanted;
    const [limited, token, remembered] = await Promise.all([
      refusals.limitOf(attempt),
      cache.read(seal),
      this.#remembered(seal),
    ]);
    if (limited !== undefined) return limited;
    if (token !== undefined) return { kind: 'token', token, isNew: false };
    if (remembered)
      return {
        kind: 'refused',
        reason: 'the same credentials were refused within the last second',
      };
    const signal = this.#parts.deadline();
    const refused: { obtained: Obtained } = { obtained: { kind: 'refused' } };
    const answer = await refusals.attempt(attempt, signal, async () => {
      const obtained = await this.#ask(wanted, signal);
      if (obtained.kind !== 'refused') return obtained;
      refused.obtained = obtained;
      return obtained.kind;
    });
    return answer === 'refused' ? refused.obtained : answer;
  }

  async #ask({ ask, seal, terms }: Wanted, signal: AbortSignal): Promise<Obtained> {
    const { cache, now, refusedBy } = this.#parts;
    const askedAt = now();
    try {
      const token = toGrantedToken(await ask(signal), { ...terms, askedAt });
      await cache.write(seal, token);
      return { kind: 'token', token, isNew: true };
    } catch (error) {
      if (!(error instanceof ProviderError) || error.refusal === undefined) throw error;
      const { message: reason, refusal } = error;
      if (![...refusedBy, NOT_GRANTED].includes(refusal)) throw error;
      await this.#remember(seal);
      return { kind: refusedBy.includes(refusal) ? 'refused' : 'not_granted', reason };
    }
  }

  async #remember(seal: RecordSeal): Promise<void> {
    await this.#parts.store.count(this.#refusalName(seal), 1, REMEMBERED_MS);
  }

  async #remembered(seal: RecordSeal): Promise<boolean> {
    return (await this.#parts.store.count(this.#refusalName(seal), 0, REMEMBERED_MS)) > 0;
  }

  #refusalName({ key }: RecordSeal): string {
    return storeName(this.#parts.storeKey, { kind: 'refusal', realm: '' }, [key]);
  }
}
