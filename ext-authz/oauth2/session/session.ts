import { decodeJwt, decodeProtectedHeader } from 'jose';
import { accessTokenEnd } from '#ext-authz/oauth2/tokens/token-end.ts';
import type { SameSite } from '#ext-authz/policy/rule.ts';
import { grantedScope } from '#ext-authz/provider/granted-scope.ts';
import type { IdToken } from '#ext-authz/provider/id-token.ts';
import type { TokenSet } from '#ext-authz/provider/token-answer.ts';

/** A login as the store keeps it, sealed by the session's id. Times are ms since the epoch. */
export type Session = {
  readonly format: 1;
  readonly xsrf: string;
  /**
   * Hashes of the pending cookies of its browser, at most 16. Other tabs may have begun logins by
   * them.
   */
  readonly pending: readonly string[];
  readonly accessToken: string;
  readonly accessTokenEnds: number;
  readonly refreshToken?: string;
  readonly idToken: IdToken;
  /** Scope values that the provider was asked for, and those that it granted. */
  readonly asked: readonly string[];
  readonly granted: readonly string[];
  /** The value for the request that began the login. */
  readonly sameSite?: SameSite;
  readonly sessionCookies: boolean;
  /** The latest end. */
  readonly ends: number;
  /** When the cookies end, by configured origin. Browsers do not say it. */
  readonly cookieEnds: { readonly [origin: string]: number };
};

/** What a session takes over from the attempt that it comes from. */
export type SessionOrigin = Pick<Session, 'xsrf' | 'pending' | 'asked' | 'sessionCookies'> & {
  readonly sameSite?: SameSite | undefined;
};

/** Returns a new session. `maxIdle` is clientSessionMaxIdle. */
export function newSession(
  { asked, pending, sameSite, sessionCookies, xsrf }: SessionOrigin,
  tokens: TokenSet & { readonly idToken: IdToken },
  maxIdle: number,
  now: number,
): Session {
  return withTokens(
    {
      ...{
        format: 1,
        xsrf,
        pending,
        asked,
        sessionCookies,
        granted: asked,
        idToken: tokens.idToken,
      },
      ...(sameSite !== undefined && { sameSite }),
      ...{ accessToken: '', accessTokenEnds: 0, ends: 0, cookieEnds: {} },
    },
    tokens,
    maxIdle,
    now,
  );
}

/**
 * Returns a session after a grant or a refresh. Without a refresh token, ID token or scope in the
 * answer the old ones go on (RFC 6749 sections 5.1 and 6, OpenID Connect Core section 12.2).
 */
export function withTokens(
  session: Session,
  tokens: TokenSet,
  maxIdle: number,
  now: number,
): Session {
  const refreshToken = tokens.refreshToken ?? session.refreshToken;
  const idToken = tokens.idToken ?? session.idToken;
  const renewed: Session = {
    ...{ ...session, idToken },
    accessToken: tokens.accessToken,
    accessTokenEnds: accessTokenEnd(tokens, now),
    ...(tokens.scope !== undefined && {
      granted: grantedScope(tokens.scope, session.asked, idToken.claims),
    }),
    ...(refreshToken !== undefined && { refreshToken }),
  };
  return { ...renewed, ends: sessionEnd(renewed, maxIdle, now) };
}

/**
 * Returns the latest end of a session that is used now. It is its access token's, or with a refresh
 * token `maxIdle` from now. See docs/adr/0014-session-store.md.
 */
export function sessionEnd(
  { accessTokenEnds, refreshToken }: Pick<Session, 'accessTokenEnds' | 'refreshToken'>,
  maxIdle: number,
  now: number,
): number {
  return refreshToken === undefined ? accessTokenEnds : now + maxIdle;
}

/** Returns the session as it is stored. The ID token is stored as what it is made of. */
export function toStored(session: Session): object {
  return { ...session, idToken: session.idToken.raw };
}

/**
 * Parses what `toStored` made. Records are sealed, so that what is in them is ours.
 * @returns undefined for another format
 */
export function parseStored(value: unknown): Session | undefined {
  if (!isStored(value)) return undefined;
  const { idToken: raw } = value;
  return {
    ...value,
    pending: [value.pending].flat(),
    idToken: { raw, header: decodeProtectedHeader(raw), claims: decodeJwt(raw) },
  };
}

/** Earlier versions had one pending cookie. */
type Stored = Omit<Session, 'idToken' | 'pending'> & {
  readonly idToken: string;
  readonly pending: string | readonly string[];
};

function isStored(value: unknown): value is Stored {
  return typeof value === 'object' && value !== null && 'format' in value && value.format === 1;
}
