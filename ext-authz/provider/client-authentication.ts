import type { ClientAuth } from 'openid-client';
import type { Assertion } from './client-assertion.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/**
 * Authenticates by HTTP Basic with client ID and secret form-encoded (RFC 6749 section 2.3.1 and
 * appendix B). The library's own also encodes `-`, `_` and `.`, which form-encoding leaves alone.
 * It fails at providers that do not decode. So would `%7E`. Secrets of Entra have a `~`, and a
 * provider that decodes reads both.
 */
export function headerPassword(clientID: string, secret: string): ClientAuth {
  const credentials = Buffer.from(`${formEncode(clientID)}:${formEncode(secret)}`).toString(
    'base64',
  );
  return (_server, _client, _body, headers) => headers.set('authorization', `Basic ${credentials}`);
}

/** Authenticates by `client_id` and `client_secret` in the body (RFC 6749 section 2.3.1). */
export function bodyPassword(clientID: string, secret: string): ClientAuth {
  return (_server, _client, body) => {
    body.set('client_id', clientID);
    body.set('client_secret', secret);
  };
}

/**
 * Authenticates by an assertion made for each request (RFC 7521 section 4.2, RFC 7523 section 2.2).
 * `client_id` is sent only with `setClientID`.
 */
export function madeAssertion(
  clientID: string,
  sign: (assertion: Assertion) => Promise<string>,
  {
    setClientID,
    now,
    id,
  }: { readonly setClientID: boolean; readonly now: () => number; readonly id: () => string },
): ClientAuth {
  const authenticate = async (server: { token_endpoint?: string }, body: URLSearchParams) => {
    const tokenEndpoint = server.token_endpoint ?? '';
    sendAssertion(
      body,
      await sign({ clientID, tokenEndpoint, now: now(), id: id() }),
      setClientID ? clientID : undefined,
    );
  };
  return (server, _client, body) => authenticate(server, body);
}

/**
 * Authenticates by the client's own assertion, its value unchanged
 * (docs/reference/kinds/filter.md). `client_id` is sent when it is given.
 */
export function givenAssertion(assertion: string, clientID: string | undefined): ClientAuth {
  return (_server, _client, body) => sendAssertion(body, assertion, clientID);
}

function sendAssertion(
  body: URLSearchParams,
  assertion: string,
  clientID: string | undefined,
): void {
  body.set('client_assertion_type', ASSERTION_TYPE);
  body.set('client_assertion', assertion);
  if (clientID !== undefined) body.set('client_id', clientID);
}

function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1).replaceAll('%7E', '~');
}
