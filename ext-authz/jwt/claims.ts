import type { JwtSettings } from '#ext-authz/policy/filter-settings.ts';
import type { JsonObject } from '#ext-authz/provider/json-answer.ts';

/** How the claims of a JWT are judged. Times are in ms. See docs/reference/kinds/filter.md. */
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
 * Returns why the registered claims do not hold, in the order of RFC 7519 section 4.1. A claim that
 * is present must have its type and hold. `require…` demands that it is present. `now` is ms since
 * the epoch. The text is ASCII and has nothing of the token.
 * @returns undefined when the claims hold
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

/** Compares as text (RFC 7519 section 4.1.1). */
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

/** Needs one of several values (RFC 7519 section 4.1.3). */
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

/** Checks the times of RFC 7519 sections 4.1.4 to 4.1.6. */
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

/**
 * Returns a NumericDate (RFC 7519 section 2) in ms since the epoch.
 * @returns undefined when there is none
 */
export function timeOf(claims: JsonObject, name: TimeClaim): number | undefined {
  const value = claims[name];
  return typeof value === 'number' && Number.isFinite(value) ? value * 1_000 : undefined;
}

/**
 * Returns the values of `scope`, which is a text with spaces between them (RFC 8693 section 4.2) or
 * a list. Anything else has no values.
 * @returns undefined when the claim is missing
 */
export function scopeClaim({ scope }: JsonObject): readonly string[] | undefined {
  if (scope === undefined) return undefined;
  if (typeof scope === 'string') return scope.split(' ').filter(value => value !== '');
  return Array.isArray(scope) ? scope.filter(value => typeof value === 'string') : [];
}

/**
 * Returns the values of `scope`, or where it is missing those of `scp`, as Entra, Okta and Hydra
 * call it.
 */
export function scopeOrScp(claims: JsonObject): readonly string[] {
  return scopeClaim(claims) ?? scopeClaim({ scope: claims.scp }) ?? [];
}

function missing(claim: string): string {
  return `the token has no ${claim}`;
}

function malformed(claim: string): string {
  return `the token's ${claim} is malformed`;
}
