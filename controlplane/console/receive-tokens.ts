import type { IncomingHttpHeaders } from 'node:http';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import type { ConsoleLogin } from './console-config.ts';
import { type Receive, type Turned, visitorOf } from './visitor.ts';

/** A header for a token when `Authorization` holds another one. */
export const TOKEN_HEADER = 'x-console-token';

/** Signatures whose key is public. The others would make a secret of the provider's a key here. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const TIMEOUT_MS = 5_000;
const LONGEST_TOKEN = 16_384;
/** Seconds by which the provider's clock may differ. */
const TOLERANCE = 10;

/**
 * Receives the holders of tokens that the provider has signed for this console. The gateway's edge
 * sends them along. They are checked here, so that nobody gets in beside the edge.
 */
export function receiveTokens(login: ConsoleLogin): Receive {
  const keys = keysOf(login.issuer);
  return async headers => {
    const token = tokenOf(headers);
    if (token === undefined)
      return { status: 401, error: 'the console needs a login: open it through the edge' };
    try {
      const { payload } = await jwtVerify(token, await keys(), {
        issuer: login.issuer,
        audience: login.audience,
        algorithms: ALGORITHMS,
        clockTolerance: TOLERANCE,
        requiredClaims: ['exp', 'sub'],
      });
      return visitorOf(payload, login);
    } catch (error) {
      return turned(error);
    }
  };
}

function tokenOf(headers: IncomingHttpHeaders): string | undefined {
  const own = headers[TOKEN_HEADER];
  const [, bearer] = /^Bearer +([^ ]+)$/i.exec(headers.authorization ?? '') ?? [];
  const token = typeof own === 'string' && own !== '' ? own : bearer;
  return token === undefined || token.length > LONGEST_TOKEN ? undefined : token;
}

/** An outage of the provider is no fault of the token. */
function turned(error: unknown): Turned {
  if (error instanceof errors.JWTExpired) return { status: 401, error: EXPIRED, isExpired: true };
  const isToken =
    error instanceof errors.JOSEError &&
    !(error instanceof errors.JWKSTimeout) &&
    !(error instanceof errors.JWKSInvalid);
  return isToken
    ? { status: 401, error: 'the token is not one for this console' }
    : { status: 503, error: 'the keys of the provider cannot be read (CONSOLE_ISSUER)' };
}

const EXPIRED =
  'the login has expired: its token ends before the session, and no newer one has come. Log in again, or see "Tokens that end before the session" in docs/how-to/console.md';

type Keys = ReturnType<typeof createRemoteJWKSet>;

/** Finds the provider's keys when they are needed, and again after a failure. */
function keysOf(issuer: string): () => Promise<Keys> {
  let found: Promise<Keys> | undefined;
  return () => {
    found ??= discover(issuer).catch(error => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

/** OpenID Connect Discovery section 4. */
async function discover(issuer: string): Promise<Keys> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const { issuer: named, jwks_uri } = (await answer.json()) as Record<string, unknown>;
  if (named !== issuer || typeof jwks_uri !== 'string') throw new Error('not its configuration');
  return createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: TIMEOUT_MS });
}
