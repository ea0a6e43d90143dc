import type { JsonObject } from '#protos/json.ts';
import { FILTER } from '#protos/type-url.ts';
import type { JwtSpec } from '#resources/kinds/filter/filter-jwt.ts';
import type { AccessTokenJWTFilter, OAuth2Spec } from '#resources/kinds/filter/filter-oauth2.ts';
import type { ClientAuthentication } from '#resources/kinds/filter/filter-oauth2-client.ts';
import {
  type ProtectedOrigin,
  protectedOriginsOf,
} from '#resources/kinds/filter/filter-oauth2-origins.ts';
import type { HeaderCondition } from '#resources/match/header-condition.ts';
import type { Resource } from '#resources/resource.ts';
import type { HeaderTemplate } from '#resources/template/header-template.ts';
import { formatOrigin } from '#resources/words/origin.ts';
import { formatOriginPattern } from '#resources/words/origin-pattern.ts';
import type { SecretValue } from '#resources/words/secret-value.ts';
import type { ServedFilter } from './served-filters.ts';

/**
 * Returns `gateway.config.v1.Filter`: what the Filter service gets of a Filter, with its secret.
 * `revision` is `decisionRevision`, where the Filter has a `decisionCache`.
 */
export function toFilterMessage(
  { filter, secret, authorities }: ServedFilter,
  revision = '',
): JsonObject {
  const { OAuth2, JWT } = filter.spec;
  const provider = OAuth2 ?? JWT;
  const client = provider && { provider_client: toProviderClient(provider, authorities) };
  return {
    '@type': FILTER,
    ...(OAuth2 === undefined
      ? {}
      : {
          oauth2: {
            ...toOAuth2(filter, OAuth2, secret?.secret),
            ...client,
            ...toDecisionCache(OAuth2, revision),
          },
        }),
    ...(JWT === undefined ? {} : { jwt: { ...toJwt(filter, JWT), ...client } }),
  };
}

const GRANT_TYPES = {
  AuthorizationCode: 'AUTHORIZATION_CODE',
  Password: 'PASSWORD',
  ClientCredentials: 'CLIENT_CREDENTIALS',
} as const;
const VALIDATIONS = { auto: 'AUTO', jwt: 'JWT', userinfo: 'USERINFO' } as const;
const METHODS = {
  HeaderPassword: 'HEADER_PASSWORD',
  BodyPassword: 'BODY_PASSWORD',
  JWTAssertion: 'JWT_ASSERTION',
} as const;
const RENEGOTIATIONS = {
  never: 'NEVER',
  onceAsClient: 'ONCE_AS_CLIENT',
  freelyAsClient: 'FREELY_AS_CLIENT',
} as const;

function toOAuth2(
  filter: Resource<'Filter'>,
  spec: OAuth2Spec,
  secret: SecretValue | undefined,
): JsonObject {
  const { useSessionCookies, accessTokenJWTFilter: delegate } = spec;
  return {
    authorization_url: spec.authorizationURL,
    grant_type: GRANT_TYPES[spec.grantType],
    expiration_safety_margin: toExactDuration(Math.max(0, spec.expirationSafetyMargin)),
    client_authentication: toAuthentication(spec.clientAuthentication),
    ...(secret === undefined ? {} : { client_id: spec.clientID ?? '', secret: toBase64(secret) }),
    protected_origins: protectedOriginsOf(spec).map(toProtectedOrigin),
    use_session_cookies: {
      value: useSessionCookies.value,
      ...toCondition(useSessionCookies.ifRequestHeader),
    },
    extra_authorization_parameters: spec.extraAuthorizationParameters,
    client_session_max_idle: toExactDuration(spec.clientSessionMaxIdle),
    post_logout_redirect_uri: spec.postLogoutRedirectURI ?? '',
    allow_malformed_access_token: spec.allowMalformedAccessToken,
    access_token_validation: VALIDATIONS[spec.accessTokenValidation],
    ...(delegate === undefined ? {} : { access_token_jwt_filter: toDelegate(filter, delegate) }),
    inject_request_headers: spec.injectRequestHeaders.map(toHeader),
  };
}

function toDecisionCache({ decisionCache }: OAuth2Spec, revision: string): JsonObject {
  if (decisionCache === undefined) return {};
  return { decision_cache: { max_age: toExactDuration(decisionCache), revision } };
}

function toBase64(secret: SecretValue): string {
  return Buffer.from(secret.reveal()).toString('base64');
}

function toAuthentication(authentication: ClientAuthentication): JsonObject {
  const method = METHODS[authentication.method];
  if (authentication.method !== 'JWTAssertion') return { method };
  const { jwtAssertion: assertion } = authentication;
  const jwt_assertion = {
    set_client_id: assertion.setClientID,
    audience: assertion.audience ?? '',
    signing_method: assertion.signingMethod,
    lifetime: toExactDuration(assertion.lifetime),
    set_nbf: assertion.setNBF,
    nbf_safety_margin: toExactDuration(Math.max(0, assertion.nbfSafetyMargin)),
    set_iat: assertion.setIAT,
    other_claims: assertion.otherClaims,
    kid: assertion.kid ?? '',
    other_header_parameters: assertion.otherHeaderParameters,
  };
  return { method, jwt_assertion };
}

function toProtectedOrigin({
  origin,
  internalOrigin,
  includeSubdomains,
}: ProtectedOrigin): JsonObject {
  return {
    origin: formatOrigin(origin),
    internal_origin: formatOriginPattern(internalOrigin),
    include_subdomains: includeSubdomains,
  };
}

function toDelegate({ namespace }: Resource<'Filter'>, delegate: AccessTokenJWTFilter): JsonObject {
  return {
    name: delegate.name,
    namespace: delegate.namespace ?? namespace,
    inherit_scope_argument: delegate.inheritScopeArgument,
    strip_inherited_scope: delegate.stripInheritedScope,
    scope: delegate.arguments.scope ?? [],
  };
}

function toJwt({ namespace, name }: Resource<'Filter'>, spec: JwtSpec): JsonObject {
  const { errorResponse } = spec;
  return {
    jwks_uri: spec.jwksURI ?? '',
    valid_algorithms: spec.validAlgorithms,
    audience: spec.audience ?? '',
    require_audience: spec.requireAudience,
    issuer: spec.issuer ?? '',
    require_issuer: spec.requireIssuer,
    require_expires_at: spec.requireExpiresAt,
    leeway_for_expires_at: toExactDuration(spec.leewayForExpiresAt),
    require_not_before: spec.requireNotBefore,
    leeway_for_not_before: toExactDuration(spec.leewayForNotBefore),
    require_issued_at: spec.requireIssuedAt,
    leeway_for_issued_at: toExactDuration(spec.leewayForIssuedAt),
    inject_request_headers: spec.injectRequestHeaders.map(toHeader),
    error_response: {
      realm: errorResponse.realm ?? `${name}.${namespace}`,
      headers: errorResponse.headers.map(toHeader),
      body_template: errorResponse.bodyTemplate,
    },
  };
}

type ProviderClient = Pick<JwtSpec, 'insecureTLS' | 'renegotiateTLS' | 'maxStale'>;

function toProviderClient(
  { insecureTLS, renegotiateTLS, maxStale }: ProviderClient,
  authorities: SecretValue | undefined,
): JsonObject {
  return {
    ...(authorities === undefined ? {} : { trusted_ca: toBase64(authorities) }),
    insecure_tls: insecureTLS,
    renegotiate_tls: RENEGOTIATIONS[renegotiateTLS],
    max_stale: toExactDuration(Math.max(0, maxStale)),
  };
}

function toHeader({ name, value }: HeaderTemplate): JsonObject {
  return { name, value };
}

/** Returns the field `if_request_header`, which several messages have. */
export function toCondition(condition: HeaderCondition | undefined): JsonObject {
  if (condition === undefined) return {};
  const { name, negate, value, valueRegex } = condition;
  const match =
    value !== undefined ? { value } : valueRegex !== undefined ? { value_regex: valueRegex } : {};
  return { if_request_header: { name, negate, ...match } };
}

/** Formats a duration to the nanosecond, as the operator can write it. */
function toExactDuration(ms: number): string {
  const nanos = BigInt(Math.round((ms % 1000) * 1e6));
  const total = BigInt(Math.trunc(ms / 1000)) * 1_000_000_000n + nanos;
  const size = total < 0n ? -total : total;
  const fraction = (size % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  const whole = `${total < 0n ? '-' : ''}${size / 1_000_000_000n}`;
  return fraction === '' ? `${whole}s` : `${whole}.${fraction}s`;
}
