import { hash } from 'node:crypto';
import {
  type CompactJWSHeaderParameters,
  type CryptoKey,
  calculateJwkThumbprint,
  compactVerify,
  decodeProtectedHeader,
  errors,
} from 'jose';
import type { CachedDocument } from './cached-document.ts';
import { isJsonObject, type JsonObject, parseJson } from './json-answer.ts';
import type { KeySet } from './key-set.ts';
import { ProviderError } from './provider-error.ts';

/**
 * Signatures that only the holder of a private key can make (RFC 7518 section 3.1, RFC 8037).
 * Neither `none` nor `HS…` is among them.
 */
export const ASYMMETRIC_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512'],
  ...['PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512'],
  ...['EdDSA', 'Ed25519'],
] as const;

/** A JWT whose signature is the provider's. Its claims are not judged, not even `exp`. */
export type SignedJwt = {
  readonly raw: string;
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /**
   * The key that signed (RFC 7638, SHA-256). `KeySet.has` tells whether it is still the provider's.
   */
  readonly thumbprint: string;
  readonly key: CryptoKey;
};

/**
 * Why a signature is not valid: no JWS with JSON claims, another algorithm than those asked for, a
 * key that the provider does not have, or a wrong signature.
 */
export type SignatureFault = 'malformed' | 'algorithm' | 'unknown_key' | 'signature';

/**
 * Verifies the signature of a JWT (RFC 7515 section 5.2, RFC 7519 section 7.2) with keys of
 * `document`. The keys are fetched again (`ReloadBudget`) for an unknown key, and for a signature
 * that does not fit, since a new key may have the `kid` of the one before. Rejects with a
 * ProviderError when the keys are not available. A wrong signature by a known `kid` stays wrong
 * then.
 */
export async function verifySignature(
  raw: string,
  algorithms: readonly string[],
  document: CachedDocument<KeySet>,
  signal: AbortSignal,
): Promise<SignedJwt | SignatureFault> {
  const header = headerOf(raw);
  if (header === undefined) return 'malformed';
  if (!algorithms.includes(header.alg)) return 'algorithm';
  const keys = await document.get(signal);
  const verdict = await tryKeys(raw, header, keys);
  if (verdict !== 'unknown_key' && verdict !== 'signature') return verdict;
  const isKnown = verdict === 'signature' && header.kid !== undefined;
  const anew = await document
    .reload(header.kid ?? hash('sha256', raw), signal)
    .catch((error: unknown) => {
      if (isKnown && error instanceof ProviderError) return keys;
      throw error;
    });
  return anew.epoch === keys.epoch ? verdict : tryKeys(raw, header, anew);
}

function headerOf(raw: string): CompactJWSHeaderParameters | undefined {
  if (raw.split('.', 4).length !== 3) return undefined;
  try {
    const header = decodeProtectedHeader(raw);
    const { alg, kid, b64 } = header;
    const sound =
      typeof alg === 'string' && (kid === undefined || typeof kid === 'string') && b64 !== false;
    return sound ? { ...header, alg } : undefined;
  } catch {
    return undefined;
  }
}

async function tryKeys(
  raw: string,
  header: CompactJWSHeaderParameters,
  keys: KeySet,
): Promise<SignedJwt | SignatureFault> {
  const candidates = await keys.candidates(header);
  if (candidates.length === 0) return 'unknown_key';
  for (const key of candidates) {
    const verdict = await tryKey(raw, header, key);
    if (verdict !== 'signature') return verdict;
  }
  return 'signature';
}

async function tryKey(
  raw: string,
  header: CompactJWSHeaderParameters,
  key: CryptoKey,
): Promise<SignedJwt | SignatureFault> {
  try {
    const { payload } = await compactVerify(raw, key, { algorithms: [header.alg] });
    const claims = claimsOf(payload);
    if (claims === undefined) return 'malformed';
    return { raw, header, claims, key, thumbprint: await calculateJwkThumbprint(key) };
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
    if (error instanceof errors.JOSEError) return 'malformed';
    // A key too short for its algorithm (RFC 7518 section 3.3) counts as no key.
    if (error instanceof TypeError) return 'unknown_key';
    throw error;
  }
}

function claimsOf(payload: Uint8Array): JsonObject | undefined {
  try {
    const claims = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    return isJsonObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}
