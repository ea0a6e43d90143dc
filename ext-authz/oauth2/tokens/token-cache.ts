import { decodeJwt } from '#ext-authz/jwt/token-data.ts';
import { grantedScope } from '#ext-authz/provider/granted-scope.ts';
import { isJsonObject, type JsonObject } from '#ext-authz/provider/json-answer.ts';
import type { TokenSet } from '#ext-authz/provider/token-answer.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import {
  openRecord,
  type RandomBytes,
  type RecordSeal,
  sealRecord,
} from '#ext-authz/store/sealed-record.ts';
import { BoundedCache } from '#process/bounded-cache.ts';
import { toldScope } from './scope.ts';
import { accessTokenEnd } from './token-end.ts';

/** Tokens that credentials got. A refresh token is never among them. */
export type GrantedToken = {
  readonly accessToken: string;
  readonly idToken: { readonly raw: string; readonly claims: JsonObject } | undefined;
  /** What was granted, of what was asked for. */
  readonly scope: readonly string[];
  /** ms since the epoch */
  readonly usableUntil: number;
  /** Client networks from which it was used. They are not stored. */
  readonly networks: Set<string>;
};

export type TokenCacheParts = {
  readonly store: RecordStore;
  /** ms since the epoch */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
};

/** The weight is the length of the tokens. */
const BOUNDS = { entries: 10_000, weight: 16 * 1_048_576 };

/**
 * Tokens by the credentials that got them (`sealOfCredentials`). They are in the store for all
 * replicas, and in memory, where they need no decryption. See docs/adr/0014-session-store.md.
 */
export class TokenCache {
  readonly #parts: TokenCacheParts;
  readonly #known = new BoundedCache<GrantedToken>(BOUNDS);

  constructor(parts: TokenCacheParts) {
    this.#parts = parts;
  }

  /** Returns what this process knows already. */
  known({ key }: RecordSeal): GrantedToken | undefined {
    const token = this.#known.get(key);
    if (token === undefined || this.#parts.now() < token.usableUntil) return token;
    this.#known.delete(key);
    return undefined;
  }

  /**
   * Reads what another process, or this one before it restarted, has stored. Rejects with
   * StoreUnavailable.
   */
  async read(seal: RecordSeal): Promise<GrantedToken | undefined> {
    const stored = await this.#parts.store.read(seal.key);
    const token = stored && parseToken(openRecord(seal, stored.value));
    if (token === undefined || this.#parts.now() >= token.usableUntil) return undefined;
    this.#keep(seal, token);
    return token;
  }

  /**
   * Keeps a token until its end. A token that has ended is not kept. Rejects with StoreUnavailable.
   */
  async write(seal: RecordSeal, token: GrantedToken): Promise<void> {
    const { accessToken, idToken, scope, usableUntil } = token;
    const ttl = usableUntil - this.#parts.now();
    if (ttl <= 0) return;
    const record = { accessToken, scope, usableUntil, ...(idToken && { idToken: idToken.raw }) };
    await this.#parts.store.create(
      seal.key,
      sealRecord(seal, record, this.#parts.randomBytes),
      ttl,
    );
    this.#keep(seal, token);
  }

  /** Forgets a token, unless another has taken its place. Rejects with StoreUnavailable. */
  async drop(seal: RecordSeal, token: GrantedToken): Promise<void> {
    const known = this.#known.get(seal.key);
    if (known !== undefined && known !== token) return;
    this.#known.delete(seal.key);
    await this.#parts.store.remove(seal.key);
  }

  #keep({ key }: RecordSeal, token: GrantedToken): void {
    this.#known.set(key, token, token.accessToken.length + (token.idToken?.raw.length ?? 0));
  }
}

/** What is kept of a token answer. */
export type GrantTerms = {
  /** The requested scope. It is granted when neither the answer nor the token says. */
  readonly asked: readonly string[];
  /** When it was asked, in ms since the epoch. */
  readonly askedAt: number;
  /** ms (docs/reference/kinds/filter.md) */
  readonly margin: number;
  /** When the credentials themselves end, in ms since the epoch. */
  readonly credentialsEnd: number;
};

/**
 * Returns the token of an answer. It is usable until it ends (`accessTokenEnd`), less `margin`, and
 * not for longer than the credentials.
 * See docs/reference/kinds/filter.md and docs/adr/0014-session-store.md.
 */
export function toGrantedToken(
  tokens: TokenSet,
  { asked, askedAt, credentialsEnd, margin }: GrantTerms,
): GrantedToken {
  const { accessToken, idToken, scope } = tokens;
  return {
    accessToken,
    idToken: idToken && { raw: idToken.raw, claims: idToken.claims },
    scope: grantedScope(scope ?? toldScope(accessToken, asked), asked, idToken?.claims),
    usableUntil: Math.min(accessTokenEnd(tokens, askedAt) - margin, credentialsEnd),
    networks: new Set(),
  };
}

function parseToken(record: unknown): GrantedToken | undefined {
  if (!isJsonObject(record)) return undefined;
  const { accessToken, idToken, scope, usableUntil } = record;
  if (typeof accessToken !== 'string' || typeof usableUntil !== 'number' || !isTexts(scope))
    return undefined;
  const claims = typeof idToken === 'string' ? decodeJwt(idToken)?.claims : undefined;
  return {
    ...{ accessToken, scope, usableUntil, networks: new Set<string>() },
    idToken:
      typeof idToken === 'string' && claims !== undefined ? { raw: idToken, claims } : undefined,
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string');
}
