import type { OAuth2Settings } from '../filter-settings.ts';
import { type ClaimRules, claimFault, scopeClaim, timeOf } from '../jwt/claims.ts';
import type { JwtFilter, JwtVerdict } from '../jwt/open-jwt-filter.ts';
import type { VerifiedToken, VerifiedTokens } from '../jwt/verified-tokens.ts';
import type { TokenVerdict } from '../oauth2/resource-server.ts';
import type { JsonObject } from '../provider/json-answer.ts';
import type { Provider } from '../provider/provider.ts';
import { ProviderError } from '../provider/provider-error.ts';
import type { SignatureFault } from '../provider/signed-jwt.ts';
import { delegatedScope } from './inherited-scope.ts';

/** The settings of a Filter that concern access tokens. */
export type TokenSettings = Pick<
  OAuth2Settings,
  'grantType' | 'allowMalformedAccessToken' | 'accessTokenValidation' | 'accessTokenJWTFilter'
>;

/** What access tokens are judged with. */
export type Judge = {
  readonly settings: TokenSettings;
  readonly tokens: VerifiedTokens<'issuer'>;
  readonly userinfo: Provider['userinfo'];
  /** The JWT filter that `accessTokenJWTFilter` names. */
  readonly delegate: () => JwtFilter | undefined;
  /** When claims hold that have been judged. */
  readonly holding: WeakMap<JsonObject, Holding>;
  /** ms since the epoch */
  readonly now: () => number;
  readonly deadline: () => AbortSignal;
};

/** A time in which nothing of a token changes: from, and before; ms since the epoch. */
export type Holding = { readonly from: number; readonly until: number };

/** An access token as it came; `subject` is the `sub` of its ID token, `scope` the rule's without an `openid` that only rule 2 added. */
export type JudgedToken = {
  readonly accessToken: string;
  /** See `tokenName`. */
  readonly name: string;
  /** By `isAccessTokenForm`. */
  readonly hasForm: boolean;
  readonly subject: string | undefined;
  readonly scope: readonly string[];
};

type Fault = SignatureFault | 'issuer';

/**
 * Judges an access token by its form, then as document 1's table "Access token validation" says; the signature of a JWT is verified once, a userinfo
 * endpoint asked each time. Rejects with a ProviderError where the provider must be asked and cannot be.
 */
export function judgeToken(token: JudgedToken, judge: Judge): TokenVerdict | Promise<TokenVerdict> {
  const { settings } = judge;
  if (!token.hasForm) return invalid(FORM);
  const delegated = settings.accessTokenJWTFilter;
  if (delegated !== undefined) return delegate(token, delegated, judge);
  if (settings.accessTokenValidation === 'userinfo') return askUserinfo(token, judge);
  const verified = judge.tokens.verify(token.accessToken, token.name);
  return verified instanceof Promise
    ? verified.then(settled => settle(token, settled, judge))
    : settle(token, verified, judge);
}

const FORM = 'the access token has characters that RFC 6750 does not allow';

/** Decisions, "auto": what is no JWT of a signature that holds is a matter of userinfo. */
function settle(
  token: JudgedToken,
  verified: VerifiedToken | Fault,
  judge: Judge,
): TokenVerdict | Promise<TokenVerdict> {
  if (typeof verified !== 'string') return judgeClaims(verified, token.scope, judge);
  const { accessTokenValidation, grantType } = judge.settings;
  const asksUserinfo = accessTokenValidation === 'auto' && grantType !== 'ClientCredentials';
  return asksUserinfo && verified !== 'issuer' ? askUserinfo(token, judge) : invalid(FAULTS[verified]);
}

const FAULTS: Readonly<Record<Fault, string>> = {
  malformed: 'the access token is not a signed JWT',
  algorithm: 'the access token is not signed with RS256, RS384 or RS512',
  unknown_key: 'the access token is signed with an unknown key',
  signature: 'the signature of the access token is wrong',
  issuer: 'the access token is from another issuer (iss)',
};

/** The provider's clock may be ahead by this (decisions, "jwt"). */
const SKEW_MS = 30_000;

/** `iss` is judged with the signature. */
const RULES: ClaimRules = {
  audience: undefined,
  requireAudience: false,
  issuer: undefined,
  requireIssuer: true,
  requireExpiresAt: true,
  leewayForExpiresAt: 0,
  requireNotBefore: false,
  leewayForNotBefore: SKEW_MS,
  requireIssuedAt: false,
  leewayForIssuedAt: SKEW_MS,
};

/** What concerns the login, not the upstream, need not be in an access token's own `scope` (RFC 9068 section 2.2.3). */
const OF_THE_LOGIN: readonly string[] = ['openid', 'offline_access'];

function judgeClaims({ claims }: VerifiedToken, scope: readonly string[], judge: Judge): TokenVerdict {
  const now = judge.now();
  const holding = judge.holding.get(claims) ?? NEVER;
  if (now < holding.from || now >= holding.until) {
    const fault = claimFault(claims, RULES, now);
    if (fault !== undefined) return invalid(fault.replace('the token', 'the access token'));
    judge.holding.set(claims, holdingFrom(claims, now));
  }
  const granted = scopeClaim(claims);
  const missing =
    granted !== undefined && scope.some(value => !granted.includes(value) && !OF_THE_LOGIN.includes(value));
  return missing ? insufficient() : { kind: 'valid' };
}

const NEVER: Holding = { from: 0, until: 0 };

/** Claims that hold at one time hold until `exp`: time is all that they are judged by besides themselves. */
function holdingFrom(claims: JsonObject, from: number): Holding {
  return { from, until: timeOf(claims, 'exp') ?? from };
}

function delegate(
  { accessToken, scope }: JudgedToken,
  delegated: NonNullable<TokenSettings['accessTokenJWTFilter']>,
  judge: Judge,
): TokenVerdict | Promise<TokenVerdict> {
  const filter = judge.delegate();
  if (filter === undefined) throw new Error(`the JWT Filter ${delegated.filter} is not in force`);
  const verdict = filter.judge(accessToken, delegatedScope(delegated, scope));
  return verdict instanceof Promise ? verdict.then(toTokenVerdict) : toTokenVerdict(verdict);
}

function toTokenVerdict(verdict: JwtVerdict): TokenVerdict {
  if (verdict.kind === 'invalid') return invalid(verdict.reason.replace('the token', 'the access token'));
  return verdict.kind === 'valid' ? { kind: 'valid' } : insufficient();
}

async function askUserinfo(
  { accessToken, subject }: JudgedToken,
  { deadline, userinfo }: Judge,
): Promise<TokenVerdict> {
  try {
    await userinfo({ accessToken, subject }, deadline());
    return { kind: 'valid' };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.code === 'subject_mismatch') return invalid('userinfo is about somebody else (sub)');
    if (error.code !== 'oauth_error') throw error;
    if (error.oauthError === 'insufficient_scope') return insufficient();
    if (error.oauthError === 'invalid_token' || error.status === 401)
      return invalid('the userinfo endpoint refuses the access token');
    throw error;
  }
}

function invalid(check: string): TokenVerdict {
  return { kind: 'invalid', check };
}

function insufficient(): TokenVerdict {
  return { kind: 'insufficient_scope', check: 'the access token lacks a required scope' };
}
