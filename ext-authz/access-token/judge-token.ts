import { type ClaimRules, claimFault, scopeClaim, timeOf } from '#ext-authz/jwt/claims.ts';
import type { JwtFilter, JwtVerdict } from '#ext-authz/jwt/open-jwt-filter.ts';
import type {
  SignatureMemory,
  VerifiedToken,
  VerifiedTokens,
} from '#ext-authz/jwt/verified-tokens.ts';
import type { TokenVerdict } from '#ext-authz/oauth2/tokens/resource-server.ts';
import type { OAuth2Settings } from '#ext-authz/policy/filter-settings.ts';
import { isAccessTokenForm } from '#ext-authz/provider/access-token-form.ts';
import type { JsonObject } from '#ext-authz/provider/json-answer.ts';
import type { Provider } from '#ext-authz/provider/provider.ts';
import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import type { SignatureFault } from '#ext-authz/provider/signed-jwt.ts';
import { waitFor } from '#ext-authz/provider/wait-for.ts';
import { delegatedScope, OF_THE_LOGIN } from './inherited-scope.ts';

/** The settings of a Filter that concern access tokens. */
export type TokenSettings = Pick<
  OAuth2Settings,
  'grantType' | 'allowMalformedAccessToken' | 'accessTokenValidation' | 'accessTokenJWTFilter'
>;

/** What is needed to judge access tokens. */
export type Judge = {
  readonly settings: TokenSettings;
  readonly tokens: VerifiedTokens<'issuer'>;
  readonly userinfo: Provider['userinfo'];
  /** The JWT filter that `accessTokenJWTFilter` names. */
  readonly delegate: () => JwtFilter | undefined;
  /** ms since the epoch */
  readonly now: () => number;
};

/**
 * Claims that were judged, and the time in which they hold. The time begins at `from` and ends
 * before `before`, both in ms since the epoch. `granted` is their scope.
 */
export type Holding = {
  readonly claims: JsonObject;
  readonly from: number;
  readonly until: number;
  readonly granted: readonly string[] | undefined;
};

/** An access token as it was received. `subject` is the `sub` of its ID token. */
export type JudgedToken = {
  readonly accessToken: string;
  /** See `tokenName`. */
  readonly name: string;
  /** What `isAccessTokenForm` returns for it. */
  readonly hasForm: boolean;
  readonly subject: string | undefined;
  /** What was found out about it, for as long as it is remembered. */
  readonly memory: SignatureMemory & { holding: Holding | undefined };
};

type Fault = SignatureFault | 'issuer';

/**
 * Judges an access token by its form, then as `accessTokenValidation` says. The signature of a JWT
 * is verified once. A userinfo endpoint is asked each time. `scope` is the rule's, without an
 * `openid` that only rule 2 added. Requests share what verifies the token, and it goes on when
 * `signal` aborts. Rejects with a ProviderError when the provider must be asked and cannot be.
 */
export function judgeToken(
  token: JudgedToken,
  scope: readonly string[],
  judge: Judge,
  signal: () => AbortSignal,
): TokenVerdict | Promise<TokenVerdict> {
  const { settings } = judge;
  if (!token.hasForm) return invalid(formFault(token.accessToken));
  const delegated = settings.accessTokenJWTFilter;
  if (delegated !== undefined) return delegate(token, delegated, scope, judge, signal);
  if (settings.accessTokenValidation === 'userinfo') return askUserinfo(token, judge, signal);
  const verified = judge.tokens.verify(token.accessToken, token.name, token.memory);
  return verified instanceof Promise
    ? waitFor(verified, KEYS, signal()).then(settled =>
        settle(token, settled, scope, judge, signal),
      )
    : settle(token, verified, scope, judge, signal);
}

const KEYS = 'the key set';

function formFault(accessToken: string): string {
  return isAccessTokenForm(accessToken, true)
    ? 'the access token has characters that RFC 6750 does not allow (see allowMalformedAccessToken)'
    : 'the access token is empty or has characters that no header can carry';
}

/** With "auto", userinfo decides about every token that is not a JWT with a valid signature. */
function settle(
  token: JudgedToken,
  verified: VerifiedToken | Fault,
  scope: readonly string[],
  judge: Judge,
  signal: () => AbortSignal,
): TokenVerdict | Promise<TokenVerdict> {
  if (typeof verified !== 'string') return judgeClaims(token, verified, scope, judge.now());
  const { accessTokenValidation, grantType } = judge.settings;
  const asksUserinfo = accessTokenValidation === 'auto' && grantType !== 'ClientCredentials';
  return asksUserinfo && verified !== 'issuer'
    ? askUserinfo(token, judge, signal)
    : invalid(FAULTS[verified]);
}

const FAULTS: Readonly<Record<Fault, string>> = {
  malformed: 'the access token is not a signed JWT (see accessTokenValidation)',
  algorithm: 'the access token is not signed with RS256, RS384 or RS512 (see accessTokenJWTFilter)',
  unknown_key: 'the access token is signed with an unknown key',
  signature: 'the signature of the access token is wrong',
  issuer:
    'the access token is from another issuer (iss) than authorizationURL (see accessTokenValidation and accessTokenJWTFilter)',
};

/** The provider's clock may be ahead by this (docs/reference/kinds/filter.md). */
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

function judgeClaims(
  { memory }: JudgedToken,
  { claims }: VerifiedToken,
  scope: readonly string[],
  now: number,
): TokenVerdict {
  if (memory.holding === undefined || !isHolding(memory.holding, claims, now)) {
    const fault = claimFault(claims, RULES, now);
    if (fault !== undefined) return invalid(fault.replace('the token', 'the access token'));
    memory.holding = holdingFrom(claims, now);
  }
  const { granted } = memory.holding;
  if (granted === undefined) return VALID;
  const missing = scope.filter(value => !granted.includes(value) && !OF_THE_LOGIN.includes(value));
  return missing.length > 0 ? insufficient(missing) : VALID;
}

const VALID: TokenVerdict = { kind: 'valid' };

function isHolding(holding: Holding, claims: JsonObject, now: number): boolean {
  return holding.claims === claims && now >= holding.from && now < holding.until;
}

/**
 * Claims that hold at one time hold until `exp`. They are judged by time and by nothing else that
 * changes.
 */
function holdingFrom(claims: JsonObject, from: number): Holding {
  return { claims, from, until: timeOf(claims, 'exp') ?? from, granted: scopeClaim(claims) };
}

function delegate(
  { accessToken }: JudgedToken,
  delegated: NonNullable<TokenSettings['accessTokenJWTFilter']>,
  scope: readonly string[],
  judge: Judge,
  signal: () => AbortSignal,
): TokenVerdict | Promise<TokenVerdict> {
  const filter = judge.delegate();
  if (filter === undefined) throw new Error(`the JWT Filter ${delegated.filter} is not in force`);
  const verdict = filter.judge(accessToken, delegatedScope(delegated, scope));
  return verdict instanceof Promise
    ? waitFor(verdict, KEYS, signal()).then(toTokenVerdict)
    : toTokenVerdict(verdict);
}

function toTokenVerdict(verdict: JwtVerdict): TokenVerdict {
  if (verdict.kind === 'invalid')
    return invalid(verdict.reason.replace('the token', 'the access token'));
  return verdict.kind === 'valid' ? VALID : insufficient(verdict.missing);
}

async function askUserinfo(
  { accessToken, subject }: JudgedToken,
  { userinfo }: Judge,
  signal: () => AbortSignal,
): Promise<TokenVerdict> {
  try {
    await userinfo({ accessToken, subject }, signal());
    return { kind: 'valid' };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.code === 'subject_mismatch') return invalid('userinfo is about another user (sub)');
    if (error.code !== 'oauth_error') throw error;
    if (error.oauthError === 'insufficient_scope')
      return { kind: 'insufficient_scope', check: BY_USERINFO };
    if (REFUSED.has(error.refusal ?? '') || error.status === 401)
      return invalid('the userinfo endpoint refuses the access token');
    throw error;
  }
}

/** RFC 6750 section 3.1, and what Dex says (403) of a token whose key it no longer has. */
const REFUSED: ReadonlySet<string> = new Set(['invalid_token', 'access_denied']);

function invalid(check: string): TokenVerdict {
  return { kind: 'invalid', check };
}

const BY_USERINFO = 'the userinfo endpoint says that the access token lacks a scope';

/** The log tells the operator which values to ask the provider for. */
function insufficient(missing: readonly string[]): TokenVerdict {
  return {
    kind: 'insufficient_scope',
    check: `the access token lacks the scope ${missing.join(' ')}`,
  };
}
