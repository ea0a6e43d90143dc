import { hash } from 'node:crypto';
import type { JsonObject } from '#ext-authz/provider/json-answer.ts';
import type { KeySet } from '#ext-authz/provider/key-set.ts';
import type { SignatureFault, SignedJwt } from '#ext-authz/provider/signed-jwt.ts';
import { BoundedCache, type CacheBounds } from '#process/bounded-cache.ts';
import type { GoStruct } from '#resources/template/go-type.ts';
import { jwtData } from './token-data.ts';

/** A JWT whose signature is valid. Its claims are not judged. */
export type VerifiedToken = {
  readonly claims: JsonObject;
  /** Returns what templates see of it. It is made once. */
  readonly data: () => GoStruct;
};

/** The keys whose signatures count. `F` are faults beyond those of a signature. */
export type KeySource<F extends string = never> = {
  readonly verify: (jwt: string, signal: AbortSignal) => Promise<SignedJwt | SignatureFault | F>;
  /** Returns the keys that are valid now. Rejects with a ProviderError. */
  readonly keySet: (signal: AbortSignal) => Promise<KeySet>;
  /** Returns the keys that were known last, without asking. */
  readonly knownKeySet: () => KeySet | undefined;
};

export type VerifiedTokensOptions = {
  /** ms since the epoch */
  readonly now: () => number;
  /** Returns a signal that aborts when the time for the provider is up. */
  readonly deadline: () => AbortSignal;
};

/**
 * A signature was valid by the key with this thumbprint. The key was last among the keys of this
 * epoch.
 */
export type SignatureCheck = {
  readonly token: VerifiedToken;
  readonly thumbprint: string;
  epoch: string;
};

/** A place for it beside a token that is kept, which saves the lookup. */
export type SignatureMemory = { verdict: SignatureCheck | undefined };

/** The weight is the length of the tokens. */
const BOUNDS: CacheBounds = { entries: 20_000, weight: 16 * 1_048_576 };
/**
 * How long known keys are used without asking. `CachedDocument` does the same with documents that
 * may not be stored.
 */
const KEYS_MS = 10_000;
/** The known keys count when the new ones take longer. Their fetch goes on. */
const KNOWN_AFTER_MS = 1_000;

/**
 * Verifies the signature of a token once, however many requests carry it, also at the same time.
 * The result is kept by the token's hash. It is dropped when the key set has changed and lacks its
 * key, or newer tokens need the room. While the provider is away the last known keys count. Refused
 * tokens are not kept. See docs/adr/0013-providers.md.
 */
export class VerifiedTokens<F extends string = never> {
  readonly #source: KeySource<F>;
  readonly #options: VerifiedTokensOptions;
  readonly #verdicts = new BoundedCache<SignatureCheck>(BOUNDS);
  readonly #pending = new Map<string, Promise<VerifiedToken | SignatureFault | F>>();
  #keysUntil = Number.NEGATIVE_INFINITY;

  constructor(source: KeySource<F>, options: VerifiedTokensOptions) {
    this.#source = source;
    this.#options = options;
  }

  /**
   * Verifies a token. A known token costs no promise. `name` and `memory` are the token's. Rejects
   * with a ProviderError when the keys are not available.
   */
  verify(
    raw: string,
    name = tokenName(raw),
    memory: SignatureMemory = { verdict: undefined },
  ): VerifiedToken | Promise<VerifiedToken | SignatureFault | F> {
    memory.verdict ??= this.#verdicts.get(name);
    const { verdict } = memory;
    if (verdict === undefined) return this.#verifyOnce(name, raw);
    if (this.#options.now() >= this.#keysUntil) return this.#askKeys(name, raw, verdict);
    return this.#holds(verdict) ? verdict.token : this.#verifyOnce(name, raw);
  }

  async #askKeys(
    name: string,
    raw: string,
    verdict: SignatureCheck,
  ): Promise<VerifiedToken | SignatureFault | F> {
    // Set before asking. Other requests meanwhile use what is known, and do not each ask a provider
    // that is away.
    this.#keysUntil = this.#options.now() + KEYS_MS;
    const soon = AbortSignal.any([this.#options.deadline(), AbortSignal.timeout(KNOWN_AFTER_MS)]);
    await this.#source.keySet(soon).catch(() => undefined);
    return this.#holds(verdict) ? verdict.token : this.#verifyOnce(name, raw);
  }

  #holds(verdict: SignatureCheck): boolean {
    const keys = this.#source.knownKeySet();
    if (keys === undefined) return false;
    if (keys.epoch === verdict.epoch) return true;
    if (!keys.has(verdict.thumbprint)) return false;
    verdict.epoch = keys.epoch;
    return true;
  }

  #verifyOnce(name: string, raw: string): Promise<VerifiedToken | SignatureFault | F> {
    const pending = this.#pending.get(name);
    if (pending !== undefined) return pending;
    const verifying = this.#verify(name, raw).finally(() => this.#pending.delete(name));
    this.#pending.set(name, verifying);
    return verifying;
  }

  async #verify(name: string, raw: string): Promise<VerifiedToken | SignatureFault | F> {
    this.#verdicts.delete(name);
    const jwt = await this.#source.verify(raw, this.#options.deadline());
    if (typeof jwt === 'string') return jwt;
    const token = toVerified(jwt);
    // The next use asks whether its key is among those known by then.
    this.#verdicts.set(name, { token, epoch: '', thumbprint: jwt.thumbprint }, raw.length);
    return token;
  }
}

/** Returns the name under which a token's result is kept. */
export function tokenName(raw: string): string {
  return hash('sha256', raw, 'base64url');
}

/** Wraps a JWT that is verified already. */
export function toVerified(jwt: Pick<SignedJwt, 'raw' | 'header' | 'claims'>): VerifiedToken {
  let data: GoStruct | undefined;
  return {
    claims: jwt.claims,
    data: () => {
      data ??= jwtData(jwt);
      return data;
    },
  };
}
