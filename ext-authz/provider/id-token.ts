import { createHash } from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { CachedDocument } from './cached-document.ts';
import type { JsonObject } from './json-answer.ts';
import type { KeySet } from './key-set.ts';
import { ProviderError, type ProviderErrorFacts } from './provider-error.ts';
import type { ProviderMetadata } from './provider-metadata.ts';
import { sameText } from './same-text.ts';
import {
  ASYMMETRIC_ALGORITHMS,
  type SignatureFault,
  type SignedJwt,
  verifySignature,
} from './signed-jwt.ts';

/** A validated ID token. */
export type IdToken = {
  readonly raw: string;
  readonly header: JsonObject;
  readonly claims: JsonObject;
};

export type IdTokenExpectation = {
  readonly metadata: ProviderMetadata;
  readonly keys: CachedDocument<KeySet>;
  readonly clientID: string;
  /** Of the authorization request. Undefined when there was none. */
  readonly nonce?: string;
  /** The access token that came with it. */
  readonly accessToken: string;
  /** The claims of the ID token before a refresh. */
  readonly previous?: JsonObject;
  /** ms since the epoch */
  readonly now: number;
  readonly signal: AbortSignal;
};

/** The provider's clock may be wrong by this (docs/adr/0013-providers.md). */
const SKEW_S = 30;

/**
 * Validates an ID token in the order of OpenID Connect Core 1.0 section 3.1.3.7: signature
 * (asymmetric only, as the provider says it signs), `iss`, `aud`, `azp`, `exp`, `iat`, `nonce`,
 * `at_hash` (3.1.3.8), and after a refresh section 12.2. Rejects with a ProviderError
 * `invalid_id_token` or `unverified_id_token` that names the check, or as the keys' document does.
 */
export async function validateIdToken(raw: string, expected: IdTokenExpectation): Promise<IdToken> {
  const { keys, metadata, signal } = expected;
  const token = await verifySignature(raw, algorithmsOf(metadata), keys, signal);
  // A client cannot cause these. A key, a setting or a clock is wrong.
  if (typeof token === 'string') throw badSignature(token, raw, metadata);
  const registered = (await registeredFault(token, expected)) ?? claimsFault(token, expected);
  if (registered !== undefined) throw invalid(metadata, registered, { lasting: true });
  const fault = furtherFault(token, expected);
  if (fault !== undefined) throw invalid(metadata, fault);
  return { raw, header: token.header, claims: token.claims };
}

const MALFORMED = 'it is not a signed JWT';

function badSignature(fault: SignatureFault, raw: string, metadata: ProviderMetadata) {
  const { code, message } = invalid(metadata, signatureFault(fault, raw, metadata));
  const isOfOtherKey = fault === 'unknown_key' || fault === 'signature';
  return new ProviderError(isOfOtherKey ? 'unverified_id_token' : code, message, { lasting: true });
}

function signatureFault(fault: SignatureFault, raw: string, metadata: ProviderMetadata): string {
  const { alg, kid } = fault === 'malformed' ? {} : decodeProtectedHeader(raw);
  switch (fault) {
    case 'malformed':
      return MALFORMED;
    case 'algorithm':
      return `its \`alg\` is ${shown(alg)}, none of those that the provider signs with and the gateway accepts (${algorithmsOf(metadata).join(', ')})`;
    case 'unknown_key':
      return `it is signed with a key that is not in the key set ${metadata.jwks_uri} (kid ${shown(kid)})`;
    case 'signature':
      return 'its signature is wrong';
  }
}

function algorithmsOf({
  id_token_signing_alg_values_supported: supported,
}: ProviderMetadata): readonly string[] {
  return ASYMMETRIC_ALGORITHMS.filter(alg => supported?.includes(alg) ?? true);
}

/** Checks the registered claims by jose. */
async function registeredFault(
  token: SignedJwt,
  { clientID, metadata, now }: IdTokenExpectation,
): Promise<string | undefined> {
  try {
    await jwtVerify(token.raw, token.key, {
      issuer: metadata.issuer,
      audience: clientID,
      clockTolerance: SKEW_S,
      currentDate: new Date(now),
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    return undefined;
  } catch (error) {
    if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)
      return claimFault(error.claim, token.claims, { clientID, metadata, now });
    if (error instanceof errors.JOSEError) return MALFORMED;
    throw error;
  }
}

type Wanted = Pick<IdTokenExpectation, 'clientID' | 'metadata' | 'now'>;

/** Returns what a claim is and what it must be, where both are public. */
function claimFault(name: string, claims: JsonObject, { clientID, metadata, now }: Wanted): string {
  const value = claims[name];
  if (value === undefined) return faultOf(name);
  if (name === 'iss') return `its \`iss\` is ${shown(value)}, not ${shown(metadata.issuer)}`;
  if (name === 'aud' || name === 'azp')
    return `its \`${name}\` is ${shown(value)}, which is not clientID ${shown(clientID)}`;
  if (typeof value !== 'number' || !CLOCKED.has(name)) return faultOf(name);
  const seconds = Math.round(value - now / 1_000);
  return `its \`${name}\` is ${Math.abs(seconds)} s ${seconds < 0 ? 'ago' : 'ahead'} by the clock here, ${SKEW_S} s are allowed. Correct the clock that is wrong`;
}

const CLOCKED: ReadonlySet<string> = new Set(['exp', 'nbf', 'iat']);

const LONGEST_SHOWN = 200;

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'none').slice(0, LONGEST_SHOWN);
}

/** Checks what jose does not judge of the registered claims. */
function claimsFault({ claims }: SignedJwt, expected: Wanted): string | undefined {
  const { clientID, now } = expected;
  const { aud, azp, iat, sub } = given(claims);
  const wrong = (name: string) => claimFault(name, claims, expected);
  const several = Array.isArray(aud) && aud.length > 1;
  if (typeof sub !== 'string' || sub === '') return faultOf('sub');
  if (azp === undefined ? several : azp !== clientID) return wrong('azp');
  return typeof iat !== 'number' || iat > now / 1_000 + SKEW_S ? wrong('iat') : undefined;
}

/** Checks what belongs to this login. */
function furtherFault(
  token: SignedJwt,
  { accessToken, nonce, previous }: IdTokenExpectation,
): string | undefined {
  const claims = given(token.claims);
  const { at_hash } = claims;
  if (nonce !== undefined && !isSame(claims.nonce, nonce)) return faultOf('nonce');
  if (at_hash !== undefined && !isSame(at_hash, leftHalfHash(accessToken, token.header.alg)))
    return faultOf('at_hash');
  return previous === undefined ? undefined : refreshFault(claims, given(previous));
}

/**
 * Checks OpenID Connect Core section 12.2. `iss`, `sub`, `aud` and `azp` stay. A `nonce` may be
 * left out but not change.
 */
function refreshFault(claims: JsonObject, previous: JsonObject): string | undefined {
  const changed = ['iss', 'sub', 'azp'].find(name => claims[name] !== previous[name]);
  if (changed !== undefined) return `its \`${changed}\` is not that of the login`;
  if (audienceOf(claims) !== audienceOf(previous)) return 'its `aud` is not that of the login';
  return claims.nonce === undefined || claims.nonce === previous.nonce
    ? undefined
    : faultOf('nonce');
}

/** Returns the claims without those that are null or empty, which count as left out (5.3.2). */
function given(claims: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(claims).filter(([, value]) => value !== null && value !== ''),
  );
}

function audienceOf({ aud }: JsonObject): string {
  return JSON.stringify([aud].flat().sort());
}

function faultOf(claim: string): string {
  return `its \`${claim}\` is missing or wrong`;
}

/**
 * Returns the left half of the hash that goes with the signature's algorithm (Core section
 * 3.1.3.6). Ed25519 hashes with SHA-512.
 */
function leftHalfHash(text: string, alg: unknown): string {
  const bits = /(?:256|384|512)$/.exec(String(alg))?.[0] ?? '512';
  const hash = createHash(`sha${bits}`).update(text).digest();
  return hash.subarray(0, hash.length / 2).toString('base64url');
}

function isSame(actual: unknown, expected: string): boolean {
  return typeof actual === 'string' && sameText(actual, expected);
}

function invalid(
  { issuer }: ProviderMetadata,
  fault: string,
  facts: Pick<ProviderErrorFacts, 'lasting'> = {},
): ProviderError {
  const message = `the ID token of ${issuer} is not valid: ${fault}`;
  return new ProviderError('invalid_id_token', message, facts);
}
