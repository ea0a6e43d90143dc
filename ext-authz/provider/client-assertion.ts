import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { signingFault } from '#resources/kinds/filter/signing-method.ts';
import { readPrivateKey } from '#resources/words/private-key.ts';
import type { SecretValue } from '#resources/words/secret-value.ts';
import type { AssertionSettings } from './settings.ts';

export type Assertion = {
  readonly clientID: string;
  readonly tokenEndpoint: string;
  /** ms since the epoch */
  readonly now: number;
  /** The `jti`, which is never repeated. */
  readonly id: string;
};

/** Set only by the gateway or by their own setting. */
const RESERVED_CLAIMS: ReadonlySet<string> = new Set([
  'iss',
  'sub',
  'aud',
  'exp',
  'jti',
  'nbf',
  'iat',
]);
const RESERVED_HEADERS: ReadonlySet<string> = new Set(['alg', 'crit', 'b64']);

/**
 * Returns a maker of client assertions (RFC 7523 sections 2.2 and 3). The header has `typ: JWT`,
 * `alg`, `kid` and `otherHeaderParameters`. The claims are these:
 *
 * - `iss` = `sub` = clientID
 * - `aud` as one string
 * - a fresh `jti`
 * - `exp` = now + lifetime
 * - `nbf` and `iat` only when set
 * - then `otherClaims`
 *
 * See docs/reference/kinds/filter.md. Throws a TypeError when the secret does not fit
 * signingMethod. `signingFault` of resources tells the operator before.
 */
export function assertionSigner(
  secret: SecretValue,
  settings: AssertionSettings,
): (assertion: Assertion) => Promise<string> {
  const { key, kid } = signingKey(secret, settings);
  const header = {
    typ: 'JWT',
    ...(kid !== undefined && { kid }),
    ...without(settings.otherHeaderParameters, RESERVED_HEADERS),
    ...(settings.kid !== undefined && { kid: settings.kid }),
    alg: settings.signingMethod,
  };
  return assertion =>
    new SignJWT(claimsOf(settings, assertion)).setProtectedHeader(header).sign(key);
}

type SigningKey = { readonly key: KeyObject | Uint8Array; readonly kid?: string };

function signingKey(secret: SecretValue, { signingMethod }: AssertionSettings): SigningKey {
  const fault = signingFault(secret, signingMethod);
  if (fault !== undefined) throw new TypeError(`the client secret cannot sign: ${fault}`);
  const read = signingMethod.startsWith('HS') ? undefined : readPrivateKey(secret);
  return read ?? { key: secret.reveal() };
}

function claimsOf(
  settings: AssertionSettings,
  { clientID, id, now, tokenEndpoint }: Assertion,
): Record<string, unknown> {
  return {
    ...without(settings.otherClaims, RESERVED_CLAIMS),
    iss: clientID,
    sub: clientID,
    aud: settings.audience ?? tokenEndpoint,
    exp: toNumericDate(now + settings.lifetime),
    jti: id,
    ...(settings.setIAT && { iat: toNumericDate(now) }),
    ...(settings.setNBF && { nbf: toNumericDate(now - settings.nbfSafetyMargin) }),
  };
}

function without(
  members: { readonly [name: string]: unknown },
  names: ReadonlySet<string>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.has(name)));
}

/** Converts ms to a NumericDate (RFC 7519 section 2). */
function toNumericDate(ms: number): number {
  return Math.floor(ms / 1_000);
}
