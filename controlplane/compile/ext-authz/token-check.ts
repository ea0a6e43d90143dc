import type { JwtSpec } from '#resources/kinds/filter/filter-jwt.ts';
import { headerConditions as settable, type TokenHeader } from './token-headers.ts';

/** The namespace of the metadata of Envoy's filter. */
export const JWT_METADATA = 'envoy.filters.http.jwt_authn';

const VERIFIED = `metadata.filter_metadata['${JWT_METADATA}']`;
/** The start of the request, in whole seconds. */
const NOW = 'double(int(request.time))';
/** What may stand in a text of CEL that stands in a formatter of Envoy. */
const PLAIN = /^[\w:/.~@+=,!$&*; -]{1,200}$/;
/** A value of a scope (RFC 6749 section 3.3) without what CEL or Envoy would read. */
const SCOPE = /^[\w:/.~@+=,!$&*;-]{1,100}$/;
const MOST_SCOPES = 10;

type Check = { readonly texts: (name: string) => string } | { readonly reason: string };

/** Returns where the claims of a verified token stand, in CEL. */
function claimsOf(name: string): string {
  return `${VERIFIED}['${name}']`;
}

/** Returns where the header of a verified token stands, beside its claims. */
export function headerKey(name: string): string {
  return `${name}_header`;
}

/**
 * Returns the condition in CEL that a token meets which Envoy has verified for a provider of some
 * name. Envoy leaves out, or reads in another way, what this adds: `crit`, an empty `kid`, times
 * without a tolerance, `iat`, `iss`, `aud` as text, and scopes. Each of these is as strict as
 * `claimFault` of ext-authz, or stricter. An error of CEL counts as false.
 */
export function tokenCheck(
  spec: JwtSpec,
  scope: readonly string[],
  headers: readonly TokenHeader[],
): Check {
  const reason = reasonOf(spec, scope);
  if (reason !== undefined) return { reason };
  return {
    texts: name => {
      const [claims, header] = [claimsOf(name), claimsOf(headerKey(name))];
      return [
        `'${name}' in ${VERIFIED}`,
        ...headerConditions(header),
        ...timeConditions(claims, spec),
        ...issuerConditions(claims, spec),
        ...audienceConditions(claims, spec),
        ...scope.map(value => hasScope(claims, value)),
        ...settable(claims, headers),
      ].join(' && ');
    },
  };
}

function reasonOf(spec: JwtSpec, scope: readonly string[]): string | undefined {
  const { audience, issuer, leewayForExpiresAt, leewayForIssuedAt, leewayForNotBefore } = spec;
  if (Math.min(leewayForExpiresAt, leewayForIssuedAt, leewayForNotBefore) < 0)
    return 'a leeway is less than 0';
  const odd = [issuer, audience].find(text => text !== undefined && !PLAIN.test(text));
  if (odd !== undefined) return '`issuer` or `audience` has an unusual character or is long';
  if (scope.length > MOST_SCOPES) return `\`scope\` has more than ${MOST_SCOPES} values`;
  return scope.every(value => SCOPE.test(value))
    ? undefined
    : '`scope` has an unusual character or is long';
}

function headerConditions(header: string): readonly string[] {
  return [
    `!has(${header}.crit)`,
    `!has(${header}.b64)`,
    `(!has(${header}.kid) || ${header}.kid != '')`,
  ];
}

/** Envoy has checked that each is a number. */
function timeConditions(claims: string, spec: JwtSpec): readonly string[] {
  return [
    optional(`${claims}.exp`, spec.requireExpiresAt, `${claims}.exp >= ${NOW} + 1.0`),
    optional(`${claims}.nbf`, spec.requireNotBefore, `${claims}.nbf <= ${NOW}`),
    optional(`${claims}.iat`, spec.requireIssuedAt, `${claims}.iat <= ${NOW}`),
  ];
}

function issuerConditions(claims: string, { issuer, requireIssuer }: JwtSpec): readonly string[] {
  const condition = issuer === undefined ? 'true' : `${claims}.iss == '${issuer}'`;
  return [optional(`${claims}.iss`, requireIssuer, condition)];
}

/** Envoy has checked that it is a text, or a list of texts. */
function audienceConditions(
  claims: string,
  { audience, requireAudience }: JwtSpec,
): readonly string[] {
  const aud = `${claims}.aud`;
  const condition =
    audience === undefined
      ? requireAudience
        ? either(aud, 'true', `size(${aud}) > 0`)
        : 'true'
      : either(aud, `${aud} == '${audience}'`, `'${audience}' in ${aud}`);
  return [optional(aud, requireAudience, condition)];
}

/** Anything else, such as an object, which has members too, meets no condition. */
function either(claim: string, text: string, list: string): string {
  return `(type(${claim}) == string ? ${text} : type(${claim}) == list && ${list})`;
}

function optional(claim: string, required: boolean, condition: string): string {
  return required ? `has(${claim}) && ${condition}` : `(!has(${claim}) || ${condition})`;
}

/** A token without `scope` has its values in `scp`. */
function hasScope(claims: string, value: string): string {
  const [scope, scp] = [`${claims}.scope`, `${claims}.scp`];
  return `(has(${scope}) ? ${holds(scope, value)} : has(${scp}) && ${holds(scp, value)})`;
}

/** Values have one space between them in a text. A text with more goes to the service. */
function holds(claim: string, value: string): string {
  const texts = [
    `${claim} == '${value}'`,
    `${claim}.startsWith('${value} ')`,
    `${claim}.endsWith(' ${value}')`,
    `${claim}.contains(' ${value} ')`,
  ];
  return either(claim, `(${texts.join(' || ')})`, `'${value}' in ${claim}`);
}
