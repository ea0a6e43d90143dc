import type { IncomingHttpHeaders } from 'node:http';
import type { Response } from 'express';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Claim, ConsoleLogin } from './console-config.ts';

/** Who asks, and what that one may do. */
export type Visitor = {
  /** For the log. */
  readonly name: string;
  readonly mayAct: boolean;
  /** When the token ends, in ms since the epoch. Absent without a token. */
  readonly ends?: number;
};

/** Why somebody gets nothing. */
export type Turned = { readonly status: 401 | 403 | 503; readonly error: string };

/** Says who asks. */
export type Receive = (headers: IncomingHttpHeaders) => Promise<Visitor | Turned>;

/** Returns who asks, once that one was let in. */
export function visitorIn({ locals }: Response): Visitor {
  return locals.visitor as Visitor;
}

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

/** Receives everybody. */
export const receiveAll: Receive = async () => ({ name: 'somebody on this machine', mayAct: true });

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

/** Returns what a verified token's holder may do. */
export function visitorOf(
  payload: JWTPayload,
  { operators, viewers }: ConsoleLogin,
): Visitor | Turned {
  const mayAct = operators.some(claim => has(payload, claim));
  if (!mayAct && !viewers.some(claim => has(payload, claim)))
    return { status: 403, error: 'your account may not see the console (CONSOLE_VIEWERS)' };
  const { email, exp = 0, preferred_username, sub } = payload;
  const name = [email, preferred_username, sub].find(text => typeof text === 'string');
  return { name: String(name).slice(0, 200), mayAct, ends: exp * 1000 };
}

/** An unverified address is what its owner wrote, and proves nothing. */
function has(payload: JWTPayload, { name, value }: Claim): boolean {
  if (name === 'email' && payload.email_verified === false) return false;
  const found = Object.hasOwn(payload, name) ? payload[name] : undefined;
  return Array.isArray(found) ? found.includes(value) : found === value;
}

function tokenOf(headers: IncomingHttpHeaders): string | undefined {
  const own = headers[TOKEN_HEADER];
  const [, bearer] = /^Bearer +([^ ]+)$/i.exec(headers.authorization ?? '') ?? [];
  const token = typeof own === 'string' && own !== '' ? own : bearer;
  return token === undefined || token.length > LONGEST_TOKEN ? undefined : token;
}

/** An outage of the provider is no fault of the token. */
function turned(error: unknown): Turned {
  if (error instanceof errors.JWTExpired) return { status: 401, error: 'the login has expired' };
  const isToken =
    error instanceof errors.JOSEError &&
    !(error instanceof errors.JWKSTimeout) &&
    !(error instanceof errors.JWKSInvalid);
  return isToken
    ? { status: 401, error: 'the token is not one for this console' }
    : { status: 503, error: 'the keys of the provider cannot be read (CONSOLE_ISSUER)' };
}

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
