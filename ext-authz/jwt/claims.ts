import type { JwtSettings } from '#ext-authz/policy/filter-settings.ts';
import type { JsonObject } from '#ext-authz/provider/json-answer.ts';

/** How the claims of a JWT are judged; times are ms. Source: docs/reference/kinds/filter.md. */
export type ClaimRules = Pick<
  JwtSettings,
  | 'audience'
  | 'requireAudience'
  | 'issuer'
  | 'requireIssuer'
  | 'requireExpiresAt'
  | 'leewayForExpiresAt'
  | 'requireNotBefore'
  | 'leewayForNotBefore'
  | 'requireIssuedAt'
  | 'leewayForIssuedAt'
>;

type TimeClaim = 'exp' | 'nbf' | 'iat';

/**
 * Why the registered claims do not hold, in the order of RFC 7519 section 4.1; undefined: they do.
 * A claim that is there must have its type and hold; `require…` asks that it is there. `now` is ms
 * since the epoch. The text is ASCII and has nothing of the token.
 */
export function claimFault(claims: JsonObject, rules: ClaimRules, now: number): string | undefined {
  return (
    issuerFault(claims, rules) ??
    audienceFault(claims, rules) ??
    timeFault(claims, 'exp', rules.requireExpiresAt) ??
    timeFault(claims, 'nbf', rules.requireNotBefore) ??
    timeFault(claims, 'iat', rules.requireIssuedAt) ??
    clockFault(claims, rules, now)
  );
}

/** RFC 7519 section 4.1.1: compared as text. */
function issuerFault(
  { iss }: JsonObject,
  { issuer, requireIssuer }: ClaimRules,
): string | undefined {
  if (iss === undefined) return requireIssuer ? missing('iss') : undefined;
  if (typeof iss !== 'string') return malformed('iss');
  return issuer === undefined || iss === issuer
    ? undefined
    : 'the token is from another issuer (iss)';
}

/** RFC 7519 section 4.1.3: one of several is enough. */
function audienceFault(
  { aud }: JsonObject,
  { audience, requireAudience }: ClaimRules,
): string | undefined {
  if (aud === undefined) return requireAudience ? missing('aud') : undefined;
  const list: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!list.every(item => typeof item === 'string')) return malformed('aud');
  const meant =
    audience === undefined ? list.length > 0 || !requireAudience : list.includes(audience);
  return meant ? undefined : 'the token is for another audience (aud)';
}

function timeFault(claims: JsonObject, name: TimeClaim, required: boolean): string | undefined {
  const value = claims[name];
  if (value === undefined) return required ? missing(name) : undefined;
  return typeof value === 'number' && Number.isFinite(value) ? undefined : malformed(name);
}

/** RFC 7519 sections 4.1.4 to 4.1.6. */
function clockFault(claims: JsonObject, rules: ClaimRules, now: number): string | undefined {
  const { leewayForExpiresAt, leewayForIssuedAt, leewayForNotBefore } = rules;
  const [exp, nbf, iat] = [timeOf(claims, 'exp'), timeOf(claims, 'nbf'), timeOf(claims, 'iat')];
  if (exp !== undefined && now >= exp + leewayForExpiresAt) return 'the token has expired (exp)';
  if (nbf !== undefined && now < nbf - leewayForNotBefore)
    return 'the token is not valid yet (nbf)';
  if (iat !== undefined && now < iat - leewayForIssuedAt)
    return 'the token was issued in the future (iat)';
  return undefined;
}

/** A NumericDate (RFC 7519 section 2) in ms since the epoch; undefined: there is none. */
export function timeOf(claims: JsonObject, name: TimeClaim): number | undefined {
  const value = claims[name];
  return typeof value === 'number' && Number.isFinite(value) ? value * 1_000 : undefined;
}

/**
 * The values of `scope`: a text with spaces between (RFC 8693 section 4.2) or a list; undefined:
 * the claim is missing. Anything else has none.
 */
export function scopeClaim({ scope }: JsonObject): readonly string[] | undefined {
  if (scope === undefined) return undefined;
  if (typeof scope === 'string') return scope.split(' ').filter(value => value !== '');
  return Array.isArray(scope) ? scope.filter(value => typeof value === 'string') : [];
}

/** The same, where there is no `scope` of `scp`: Entra, Okta and Hydra call it so. */
export function scopeOrScp(claims: JsonObject): readonly string[] {
  return scopeClaim(claims) ?? scopeClaim({ scope: claims.scp }) ?? [];
}

function missing(claim: string): string {
  return `the token has no ${claim}`;
}

function malformed(claim: string): string {
  return `the token's ${claim} is malformed`;
}
