import type { DocumentSource } from './cached-document.ts';
import { isJsonObject, type JsonObject } from './json-answer.ts';
import { ProviderError } from './provider-error.ts';

/**
 * What the gateway uses of a discovery document. For names and meaning see OpenID Connect Discovery
 * 1.0 section 3.
 */
export type ProviderMetadata = {
  readonly issuer: string;
  readonly authorization_endpoint?: string;
  readonly token_endpoint?: string;
  readonly userinfo_endpoint?: string;
  readonly jwks_uri?: string;
  /** OpenID Connect RP-Initiated Logout 1.0 section 2.1 */
  readonly end_session_endpoint?: string;
  readonly id_token_signing_alg_values_supported?: readonly string[];
  readonly userinfo_signing_alg_values_supported?: readonly string[];
  readonly token_endpoint_auth_methods_supported?: readonly string[];
  /** Initiating User Registration via OpenID Connect 1.0 section 4.1 */
  readonly prompt_values_supported?: readonly string[];
  /** `iss` of access tokens where it differs from `issuer`: AD FS ([MS-OIDCE]). */
  readonly access_token_issuer?: string;
  /** RFC 9207 section 3 */
  readonly authorization_response_iss_parameter_supported: boolean;
};

export type Endpoint = (typeof ENDPOINTS)[number];

const ENDPOINTS = [
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'jwks_uri',
  'end_session_endpoint',
] as const;

const WHAT = 'the discovery document';

/**
 * Returns the source of the document at authorizationURL, without its trailing slashes, +
 * `/.well-known/openid-configuration` (docs/adr/0013-providers.md).
 */
export function discoverySource(authorizationURL: string): DocumentSource<ProviderMetadata> {
  const url = `${authorizationURL.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const parse = (json: unknown) => parseMetadata(json, authorizationURL);
  return { what: WHAT, url, parse, servesExpired: true };
}

/** Returns an endpoint's URL. Throws a ProviderError `missing_endpoint` when there is none. */
export function endpointOf(metadata: ProviderMetadata, name: Endpoint): string {
  const url = metadata[name];
  if (url !== undefined) return url;
  throw new ProviderError('missing_endpoint', `${WHAT} of ${metadata.issuer} has no \`${name}\``);
}

/**
 * Reads a discovery document. Throws a ProviderError. It is `issuer_mismatch` when its `issuer` is
 * not authorizationURL up to one trailing slash (Discovery section 4.3). It is `invalid_answer`
 * when a member is malformed or too long, or an endpoint of an https provider is not https.
 */
export function parseMetadata(json: unknown, authorizationURL: string): ProviderMetadata {
  if (!isJsonObject(json)) throw invalid(authorizationURL, 'is not a JSON object');
  const issuer = json.issuer;
  if (typeof issuer !== 'string') throw invalid(authorizationURL, 'has no `issuer`');
  if (withoutSlash(issuer) !== withoutSlash(authorizationURL))
    throw mismatch(issuer, authorizationURL);
  return {
    issuer,
    ...(typeof json.access_token_issuer === 'string' && {
      access_token_issuer: json.access_token_issuer,
    }),
    ...endpointsOf(json, authorizationURL),
    ...textsOf(json, 'id_token_signing_alg_values_supported'),
    ...textsOf(json, 'userinfo_signing_alg_values_supported'),
    ...textsOf(json, 'token_endpoint_auth_methods_supported'),
    ...textsOf(json, 'prompt_values_supported'),
    authorization_response_iss_parameter_supported:
      json.authorization_response_iss_parameter_supported === true,
  };
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}

function endpointsOf(
  json: JsonObject,
  authorizationURL: string,
): Partial<Record<Endpoint, string>> {
  const present = ENDPOINTS.filter(
    name => json[name] !== undefined && json[name] !== null && json[name] !== '',
  );
  return Object.fromEntries(
    present.map(name => [name, endpointUrl(json[name], name, authorizationURL)]),
  );
}

/** Log lines name the endpoint. */
const LONGEST_ENDPOINT = 4_096;

/** An endpoint has no fragment (RFC 6749 section 3.1). */
function endpointUrl(value: unknown, name: Endpoint, authorizationURL: string): string {
  if (typeof value === 'string' && value.length > LONGEST_ENDPOINT)
    throw invalid(authorizationURL, `has more than ${LONGEST_ENDPOINT} characters in \`${name}\``);
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalid(authorizationURL, `has no URL as \`${name}\``);
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw invalid(authorizationURL, `has a user name, a password or a fragment in \`${name}\``);
  }
  if (/^https:/i.test(authorizationURL) && url.protocol !== 'https:') {
    throw invalid(authorizationURL, `has an \`${name}\` that is not https`);
  }
  return url.href;
}

function textsOf<Name extends string>(
  json: JsonObject,
  name: Name,
): Partial<Record<Name, readonly string[]>>;
function textsOf(json: JsonObject, name: string): Partial<Record<string, readonly string[]>> {
  const list = json[name];
  return Array.isArray(list) ? { [name]: list.filter(item => typeof item === 'string') } : {};
}

function invalid(authorizationURL: string, what: string): ProviderError {
  return new ProviderError('invalid_answer', `${WHAT} of ${authorizationURL} ${what}`);
}

function mismatch(issuer: string, authorizationURL: string): ProviderError {
  const shown = JSON.stringify(issuer.slice(0, 200));
  const wanted = issuer.includes('{')
    ? 'authorizationURL must name one tenant, not all of them'
    : "authorizationURL must be the issuer's URL";
  const text = `${WHAT} of ${authorizationURL} is that of the issuer ${shown}. ${wanted}`;
  return new ProviderError('issuer_mismatch', text);
}
