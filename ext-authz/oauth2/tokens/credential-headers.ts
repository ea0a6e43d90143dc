import type { HeaderFields } from '#ext-authz/http/http-request.ts';
import { timeOf } from '#ext-authz/jwt/claims.ts';
import { decodeJwt } from '#ext-authz/jwt/token-data.ts';
import type { ClientCredentials } from '#ext-authz/provider/provider.ts';
import type { ClientAuthentication } from '#ext-authz/provider/settings.ts';

/** What a request brings for grantType Password. */
export type UserCredentials = { readonly username: string; readonly password: string };

/** Credentials as they are cached, counted and sent. `C` is what the provider gets. */
export type Brought<C> = {
  readonly credentials: C;
  /** All that tells these credentials from others. */
  readonly parts: readonly string[];
  /**
   * The user name or client ID for which refusals are counted. For an assertion it is its
   * unverified `sub`.
   */
  readonly name: string;
  /**
   * ms since the epoch. A token got by an assertion is not used for longer than the assertion
   * lives.
   */
  readonly expiresAt: number;
};

/** Why a request has no credentials. It names headers, never their values. */
export type NoCredentials = { readonly error: string };

const ID = 'x-gateway-client-id';
const SECRET = 'x-gateway-client-secret';
const ASSERTION = 'x-gateway-client-assertion';
const USERNAME = 'x-gateway-username';
const PASSWORD = 'x-gateway-password';

const SHOWN: ReadonlyMap<string, string> = new Map([
  [ID, 'X-Gateway-Client-ID'],
  [SECRET, 'X-Gateway-Client-Secret'],
  [ASSERTION, 'X-Gateway-Client-Assertion'],
  [USERNAME, 'X-Gateway-Username'],
  [PASSWORD, 'X-Gateway-Password'],
]);

const LONGEST = 16_384;

/**
 * Reads user name and password of a request, each header once and not empty. See
 * docs/reference/kinds/filter.md.
 */
export function userCredentials(headers: HeaderFields): Brought<UserCredentials> | NoCredentials {
  const [username, password] = [oneOf(headers, USERNAME), oneOf(headers, PASSWORD)];
  if (typeof username !== 'string') return username;
  if (typeof password !== 'string') return password;
  const credentials = { username, password };
  return {
    ...{ credentials, name: username, parts: ['user', username, password] },
    expiresAt: Number.POSITIVE_INFINITY,
  };
}

/**
 * Reads a client's own credentials for the Filter's method. Each header must be there once and not
 * empty, and none of another method. Only form and `exp` of an assertion are checked, because the
 * provider judges it (RFC 7523 section 3). `now` is ms since the epoch. See
 * docs/reference/kinds/filter.md.
 */
export function clientCredentials(
  headers: HeaderFields,
  authentication: ClientAuthentication,
  now: number,
): Brought<ClientCredentials> | NoCredentials {
  const others = authentication.method === 'JWTAssertion' ? [ID, SECRET] : [ASSERTION];
  const other = others.find(name => headers.has(name));
  if (other !== undefined) return { error: `The header ${SHOWN.get(other)} is not for this path.` };
  if (authentication.method === 'JWTAssertion')
    return assertionOf(headers, authentication.jwtAssertion.setClientID, now);
  const [clientID, secret] = [oneOf(headers, ID), oneOf(headers, SECRET)];
  if (typeof clientID !== 'string') return clientID;
  if (typeof secret !== 'string') return secret;
  return {
    credentials: { kind: 'password', clientID, secret },
    ...{ name: clientID, parts: ['client', clientID, secret], expiresAt: Number.POSITIVE_INFINITY },
  };
}

function assertionOf(
  headers: HeaderFields,
  setClientID: boolean,
  now: number,
): Brought<ClientCredentials> | NoCredentials {
  const assertion = oneOf(headers, ASSERTION);
  if (typeof assertion !== 'string') return assertion;
  const claims = assertion.endsWith('.') ? undefined : decodeJwt(assertion)?.claims;
  const expiresAt = claims && timeOf(claims, 'exp');
  if (claims === undefined || expiresAt === undefined)
    return assertionError('is not a signed JWT with exp');
  if (now >= expiresAt) return assertionError('has expired');
  const { sub } = claims;
  const subject = typeof sub === 'string' && sub !== '' ? sub : undefined;
  if (setClientID && subject === undefined) return assertionError('has no sub');
  const sent = setClientID && subject !== undefined ? { clientID: subject } : {};
  return {
    credentials: { kind: 'assertion', assertion, ...sent },
    ...{ name: subject ?? '', parts: ['assertion', assertion], expiresAt },
  };
}

function assertionError(fault: string): NoCredentials {
  return { error: `The JWT in the header ${SHOWN.get(ASSERTION)} ${fault}.` };
}

function oneOf(headers: HeaderFields, name: string): string | NoCredentials {
  const [value, ...others] = headers.get(name) ?? [];
  const shown = SHOWN.get(name);
  if (value === undefined || value === '') return { error: `The header ${shown} is missing.` };
  if (others.length > 0) return { error: `The header ${shown} is present more than once.` };
  return value.length > LONGEST ? { error: `The header ${shown} is too long.` } : value;
}
