import type { IncomingHttpHeaders } from 'node:http';
import type { Response } from 'express';
import type { JWTPayload } from 'jose';
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
export type Turned = {
  readonly status: 401 | 403 | 503;
  readonly error: string;
  /** A newer token would do. */
  readonly isExpired?: true;
};

/** Says who asks. */
export type Receive = (headers: IncomingHttpHeaders) => Promise<Visitor | Turned>;

/** Returns who asks, once that one was let in. */
export function visitorIn({ locals }: Response): Visitor {
  return locals.visitor as Visitor;
}

/** Receives everybody. */
export const receiveAll: Receive = async () => ({ name: 'somebody on this machine', mayAct: true });

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

/**
 * An unverified address is what its owner wrote, and proves nothing. Some providers write the claim
 * as a text, which is a boolean by OpenID Connect Core, section 5.1.
 */
function has(payload: JWTPayload, { name, value }: Claim): boolean {
  const { email_verified: verified = true } = payload;
  if (name === 'email' && verified !== true && verified !== 'true') return false;
  const found = Object.hasOwn(payload, name) ? payload[name] : undefined;
  return Array.isArray(found) ? found.includes(value) : found === value;
}
