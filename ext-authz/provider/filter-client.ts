import type { ClientAuth } from 'openid-client';
import type { Traces } from '#process/traces/traces.ts';
import { assertionSigner } from './client-assertion.ts';
import {
  bodyPassword,
  givenAssertion,
  headerPassword,
  madeAssertion,
} from './client-authentication.ts';
import type { ClientCredentials } from './provider.ts';
import type { ProviderSettings } from './settings.ts';

/** An OAuth client as the token endpoint sees it. */
export type OAuthClient = { readonly clientID: string; readonly authentication: ClientAuth };

export type AssertionSources = {
  /** ms since the epoch */
  readonly now: () => number;
  /** Returns a text that is never repeated. */
  readonly id: () => string;
  /** Undefined when calls are not traced. */
  readonly traces?: Traces | undefined;
};

/**
 * Returns the Filter's own client (docs/reference/kinds/filter.md).
 * @returns undefined without clientID and secret
 */
export function filterClient(
  settings: ProviderSettings,
  { id, now }: AssertionSources,
): OAuthClient | undefined {
  const { clientAuthentication, clientID, secret } = settings;
  if (clientID === undefined || secret === undefined) return undefined;
  if (clientAuthentication.method !== 'JWTAssertion') {
    const text = new TextDecoder().decode(secret.reveal());
    return { clientID, authentication: byPassword(clientAuthentication.method, clientID, text) };
  }
  const { jwtAssertion } = clientAuthentication;
  const sign = assertionSigner(secret, jwtAssertion);
  return {
    clientID,
    authentication: madeAssertion(clientID, sign, {
      setClientID: jwtAssertion.setClientID,
      now,
      id,
    }),
  };
}

/**
 * Returns a client that a request brings. Throws a TypeError when its credentials are not of the
 * Filter's method.
 */
export function broughtAuthentication(
  credentials: ClientCredentials,
  { clientAuthentication: { method } }: ProviderSettings,
): ClientAuth {
  if (credentials.kind === 'assertion' && method === 'JWTAssertion') {
    return givenAssertion(credentials.assertion, credentials.clientID);
  }
  if (credentials.kind === 'password' && method !== 'JWTAssertion') {
    return byPassword(method, credentials.clientID, credentials.secret);
  }
  throw new TypeError(`credentials of kind ${credentials.kind} with method ${method}`);
}

function byPassword(
  method: 'HeaderPassword' | 'BodyPassword',
  clientID: string,
  secret: string,
): ClientAuth {
  return method === 'HeaderPassword'
    ? headerPassword(clientID, secret)
    : bodyPassword(clientID, secret);
}
