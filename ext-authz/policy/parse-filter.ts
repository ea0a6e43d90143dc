import type { ClientAuthentication } from '#ext-authz/provider/settings.ts';
import {
  durationAt,
  flagAt,
  messageAt,
  messagesAt,
  optionalText,
  requiredText,
  textAt,
  textsAt,
  WireError,
  wordAt,
} from '#ext-authz/wire/wire-json.ts';
import { decode } from '#protos/decode.ts';
import type { JsonObject } from '#protos/json.ts';
import type { ProtectedOrigin } from '#resources/kinds/filter/filter-oauth2-origins.ts';
import { SIGNING_METHODS } from '#resources/kinds/filter/signing-method.ts';
import { parseTemplate, type TemplateUse } from '#resources/template/template.ts';
import { parseOrigin } from '#resources/words/origin.ts';
import { parseOriginPattern } from '#resources/words/origin-pattern.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import { SecretValue } from '#resources/words/secret-value.ts';
import type {
  AccessTokenJWTFilter,
  DecisionCache,
  FilterDefinition,
  HeaderTemplate,
  JwtSettings,
  OAuth2Settings,
} from './filter-settings.ts';
import { parseCondition } from './parse-condition.ts';

const GRANT_TYPES = new Map([
  ['AUTHORIZATION_CODE', 'AuthorizationCode'],
  ['PASSWORD', 'Password'],
  ['CLIENT_CREDENTIALS', 'ClientCredentials'],
] as const);
const VALIDATIONS = new Map([
  ['AUTO', 'auto'],
  ['JWT', 'jwt'],
  ['USERINFO', 'userinfo'],
] as const);
const METHODS = new Map([
  ['HEADER_PASSWORD', 'HeaderPassword'],
  ['BODY_PASSWORD', 'BodyPassword'],
  ['JWT_ASSERTION', 'JWTAssertion'],
] as const);
const RENEGOTIATIONS = new Map([
  ['NEVER', 'never'],
  ['ONCE_AS_CLIENT', 'onceAsClient'],
  ['FREELY_AS_CLIENT', 'freelyAsClient'],
] as const);

/**
 * Parses a `gateway.config.v1.Filter`, whose resource is named `<namespace>/<name>`. The control
 * plane has checked it. What is wrong all the same is an error that names the field, never its
 * value.
 */
export function parseFilter(
  name: string,
  version: string,
  bytes: Uint8Array,
): Parsed<FilterDefinition> {
  const [namespace = '', filterName = '', ...rest] = name.split('/');
  if (namespace === '' || filterName === '' || rest.length > 0)
    return { error: 'it is not named <namespace>/<name>' };
  const named = { name: filterName, namespace, realm: `${filterName}.${namespace}`, version };
  try {
    const message = decode('gateway.config.v1.Filter', bytes);
    const [oauth2, jwt] = [messageAt(message, 'oauth2'), messageAt(message, 'jwt')];
    if (oauth2 !== undefined)
      return { value: { ...named, type: 'OAuth2', settings: toOAuth2(oauth2) } };
    if (jwt !== undefined) return { value: { ...named, type: 'JWT', settings: toJwt(jwt) } };
    return { error: 'its type is unknown' };
  } catch (error) {
    return { error: error instanceof WireError ? error.message : 'it cannot be decoded' };
  }
}

function toOAuth2(message: JsonObject): OAuth2Settings {
  const cookies = messageAt(message, 'use_session_cookies') ?? {};
  const extra = messageAt(message, 'extra_authorization_parameters') ?? {};
  const grantType = wordAt(message, 'grant_type', GRANT_TYPES);
  const protectedOrigins = messagesAt(message, 'protected_origins').map(toProtectedOrigin);
  if (grantType === 'AuthorizationCode' && protectedOrigins.length === 0)
    throw new WireError('protected_origins is empty');
  return {
    ...toClient(message),
    authorizationURL: requiredText(message, 'authorization_url'),
    grantType,
    clientID: optionalText(message, 'client_id'),
    secret: toSecret(message),
    clientAuthentication: toAuthentication(messageAt(message, 'client_authentication') ?? {}),
    expirationSafetyMargin: durationAt(message, 'expiration_safety_margin'),
    protectedOrigins,
    useSessionCookies: {
      value: flagAt(cookies, 'value'),
      ifRequestHeader: parseCondition(cookies),
    },
    extraAuthorizationParameters: new Map(Object.keys(extra).map(key => [key, textAt(extra, key)])),
    clientSessionMaxIdle: durationAt(message, 'client_session_max_idle'),
    decisionCache: toDecisionCache(messageAt(message, 'decision_cache')),
    postLogoutRedirectURI: optionalText(message, 'post_logout_redirect_uri'),
    allowMalformedAccessToken: flagAt(message, 'allow_malformed_access_token'),
    accessTokenValidation: wordAt(message, 'access_token_validation', VALIDATIONS),
    accessTokenJWTFilter: toJwtReference(messageAt(message, 'access_token_jwt_filter')),
    injectRequestHeaders: toHeaders(message, 'inject_request_headers'),
  };
}

function toDecisionCache(message: JsonObject | undefined): DecisionCache | undefined {
  if (message === undefined) return undefined;
  return { maxAge: durationAt(message, 'max_age'), revision: requiredText(message, 'revision') };
}

function toSecret(message: JsonObject): SecretValue | undefined {
  const base64 = textAt(message, 'secret');
  return base64 === '' ? undefined : new SecretValue(Buffer.from(base64, 'base64'));
}

function toAuthentication(message: JsonObject): ClientAuthentication {
  const method = wordAt(message, 'method', METHODS);
  if (method !== 'JWTAssertion') return { method };
  const assertion = messageAt(message, 'jwt_assertion') ?? {};
  const wanted = requiredText(assertion, 'signing_method');
  const signingMethod = SIGNING_METHODS.find(known => known === wanted);
  if (signingMethod === undefined) throw new WireError('signing_method is not known');
  return {
    method,
    jwtAssertion: {
      setClientID: flagAt(assertion, 'set_client_id'),
      audience: optionalText(assertion, 'audience'),
      signingMethod,
      lifetime: durationAt(assertion, 'lifetime'),
      setNBF: flagAt(assertion, 'set_nbf'),
      nbfSafetyMargin: durationAt(assertion, 'nbf_safety_margin'),
      setIAT: flagAt(assertion, 'set_iat'),
      otherClaims: messageAt(assertion, 'other_claims') ?? {},
      kid: optionalText(assertion, 'kid'),
      otherHeaderParameters: messageAt(assertion, 'other_header_parameters') ?? {},
    },
  };
}

/**
 * Hosts are compared without port, so internal origins that differ only by port cannot be told
 * apart.
 */
function toProtectedOrigin(message: JsonObject): ProtectedOrigin {
  const origin = parseOrigin(textAt(message, 'origin'));
  const internal = parseOriginPattern(textAt(message, 'internal_origin'));
  if ('error' in origin || 'error' in internal)
    throw new WireError('protected_origins is malformed');
  const includeSubdomains = flagAt(message, 'include_subdomains');
  const { scheme, host } = internal.value;
  return { origin: origin.value, internalOrigin: { scheme, host }, includeSubdomains };
}

function toJwtReference(message: JsonObject | undefined): AccessTokenJWTFilter | undefined {
  if (message === undefined) return undefined;
  return {
    filter: `${requiredText(message, 'namespace')}/${requiredText(message, 'name')}`,
    inheritScopeArgument: flagAt(message, 'inherit_scope_argument'),
    stripInheritedScope: flagAt(message, 'strip_inherited_scope'),
    scope: textsAt(message, 'scope'),
  };
}

function toJwt(message: JsonObject): JwtSettings {
  const errorResponse = messageAt(message, 'error_response') ?? {};
  const validAlgorithms = textsAt(message, 'valid_algorithms');
  if (validAlgorithms.length === 0) throw new WireError('valid_algorithms is empty');
  return {
    ...toClient(message),
    jwksURI: optionalText(message, 'jwks_uri'),
    validAlgorithms,
    audience: optionalText(message, 'audience'),
    requireAudience: flagAt(message, 'require_audience'),
    issuer: optionalText(message, 'issuer'),
    requireIssuer: flagAt(message, 'require_issuer'),
    requireExpiresAt: flagAt(message, 'require_expires_at'),
    leewayForExpiresAt: durationAt(message, 'leeway_for_expires_at'),
    requireNotBefore: flagAt(message, 'require_not_before'),
    leewayForNotBefore: durationAt(message, 'leeway_for_not_before'),
    requireIssuedAt: flagAt(message, 'require_issued_at'),
    leewayForIssuedAt: durationAt(message, 'leeway_for_issued_at'),
    injectRequestHeaders: toHeaders(message, 'inject_request_headers'),
    errorResponse: {
      realm: requiredText(errorResponse, 'realm'),
      headers: toHeaders(errorResponse, 'headers'),
      bodyTemplate: toTemplate(errorResponse, 'body_template', 'body'),
    },
  };
}

function toClient(message: JsonObject) {
  const client = messageAt(message, 'provider_client') ?? {};
  return {
    insecureTLS: flagAt(client, 'insecure_tls'),
    renegotiateTLS: wordAt(client, 'renegotiate_tls', RENEGOTIATIONS),
    maxStale: durationAt(client, 'max_stale'),
    trustedCa: toPem(textAt(client, 'trusted_ca')),
  };
}

function toPem(base64: string): string | undefined {
  return base64 === '' ? undefined : Buffer.from(base64, 'base64').toString('utf8');
}

/** When a name is present twice, the first one counts. */
function toHeaders(message: JsonObject, field: string): readonly HeaderTemplate[] {
  const headers = new Map<string, HeaderTemplate>();
  for (const header of messagesAt(message, field)) {
    const name = requiredText(header, 'name').toLowerCase();
    if (!headers.has(name))
      headers.set(name, { name, value: toTemplate(header, 'value', 'header') });
  }
  return [...headers.values()];
}

function toTemplate(message: JsonObject, field: string, use: TemplateUse) {
  const template = parseTemplate(textAt(message, field), use);
  if ('error' in template) throw new WireError(`${field} is not a template`);
  return template.value;
}
