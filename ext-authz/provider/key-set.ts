import { createHash } from 'node:crypto';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  createLocalJWKSet,
  errors,
  exportJWK,
  type JWK,
  type JWTHeaderParameters,
} from 'jose';
import { isJsonObject } from './json-answer.ts';
import { ProviderError } from './provider-error.ts';

/** The provider's public keys at one time (RFC 7517 section 5). */
export type KeySet = {
  /** Equal for sets with the same keys, whatever their order. */
  readonly epoch: string;
  /** What operators are told of them. */
  readonly listed: readonly ListedKey[];
  /** Whether the key with this thumbprint (RFC 7638, SHA-256) is in it. */
  readonly has: (thumbprint: string) => boolean;
  /**
   * Returns the keys that may have made a signature with this header, by `kid`, `alg`, `use` and
   * key type. Mostly it is one. None means that the key is unknown.
   */
  readonly candidates: (header: JWTHeaderParameters) => Promise<readonly CryptoKey[]>;
  /**
   * Returns the public keys as JSON for a proxy that verifies by them too: those with a `kid` that
   * `candidates` would find, once for each of these algorithms. A proxy takes a key without `kid`
   * for any, so none is among them, and none with a `kid` of more than 1,024 characters.
   */
  readonly exported: (algorithms: readonly string[]) => Promise<readonly string[]>;
};

export type ListedKey = { readonly kid: string; readonly algorithm: string };

/** Each token is compared with all keys of the set. */
const MOST_KEYS = 1_000;
/** A token without `kid` is tried with at most so many keys. */
const MAX_TRIES = 16;

/**
 * Reads a JWK Set. Symmetric keys and keys of unknown kinds are left out (RFC 7517 section 5). With
 * a symmetric key any reader of the set could sign. Throws a ProviderError `invalid_answer` when it
 * is not a JWK Set, or has more than 1,000 keys. `issuer` is for the error.
 */
export async function parseKeySet(json: unknown, issuer: string): Promise<KeySet> {
  const list = isJsonObject(json) ? json.keys : undefined;
  if (!Array.isArray(list))
    throw new ProviderError('invalid_answer', `the key set of ${issuer} has no list \`keys\``);
  if (list.length > MOST_KEYS)
    throw new ProviderError(
      'invalid_answer',
      `the key set of ${issuer} has ${list.length} keys, at most ${MOST_KEYS} are read`,
    );
  const thumbprints = new Map<string, JWK>();
  for (const jwk of list.filter(isJwk)) {
    const thumbprint = await thumbprintOf(jwk);
    if (thumbprint !== undefined) thumbprints.set(`${thumbprint} ${jwk.kid}`, jwk);
  }
  return keySetOf(thumbprints);
}

function keySetOf(thumbprints: ReadonlyMap<string, JWK>): KeySet {
  const resolve = createLocalJWKSet({ keys: [...thumbprints.values()] });
  const candidates: KeySet['candidates'] = header =>
    resolve(header).then(key => [key], candidatesOf);
  const listed = [...thumbprints.values()];
  const kids = [...new Set(listed.flatMap(({ kid }) => (isKid(kid) ? kid : [])))];
  const exported = new Map<string, Promise<readonly string[]>>();
  const known = new Set([...thumbprints.keys()].map(name => name.split(' ', 1)[0]));
  return {
    epoch: createHash('sha256')
      .update([...thumbprints.keys()].sort().join('\n'))
      .digest('base64url'),
    listed: listed.slice(0, MOST_LISTED).map(listedKey),
    has: thumbprint => known.has(thumbprint),
    candidates,
    exported: algorithms => {
      const key = algorithms.join();
      const made = exported.get(key) ?? exportAll(kids, algorithms, candidates);
      exported.set(key, made);
      return made;
    },
  };
}

/** The keys of all Filters go to the proxies in one message, once for each algorithm. */
const LONGEST_KID = 1_024;
/** A proxy knows these alike (RFC 7518 section 3.1). */
const EXPORTED = /^(?:[RP]S|ES)(?:256|384|512)$/;
/** RFC 7518 section 3.3. Shorter keys verify nothing here. */
const SHORTEST_RSA_BITS = 2048;

async function exportAll(
  kids: readonly string[],
  algorithms: readonly string[],
  candidates: KeySet['candidates'],
): Promise<readonly string[]> {
  const found: string[] = [];
  const short = kids.filter(kid => kid.length <= LONGEST_KID);
  for (const kid of short.slice(0, MAX_TRIES))
    for (const alg of algorithms.filter(each => EXPORTED.test(each)))
      for (const key of await candidates({ alg, kid }))
        if (isLong(key))
          found.push(JSON.stringify({ ...(await exportJWK(key)), kid, alg, use: 'sig' }));
  return found;
}

function isLong({ algorithm }: CryptoKey): boolean {
  const bits = 'modulusLength' in algorithm ? Number(algorithm.modulusLength) : undefined;
  return bits === undefined || bits >= SHORTEST_RSA_BITS;
}

const MOST_LISTED = 50;
const LONGEST_LISTED = 128;

function isKid(kid: unknown): kid is string {
  return typeof kid === 'string' && kid !== '';
}

/** A key that names no algorithm is for those of its type. */
function listedKey({ alg, crv, kid, kty }: JWK): ListedKey {
  const text = (value: unknown) =>
    (typeof value === 'string' ? value : '').slice(0, LONGEST_LISTED);
  return { kid: text(kid), algorithm: text(alg) || [kty, crv].map(text).join(' ').trim() };
}

/** jose gives several keys as an error that can be iterated. */
async function candidatesOf(error: unknown): Promise<readonly CryptoKey[]> {
  if (!(error instanceof errors.JWKSMultipleMatchingKeys)) {
    if (error instanceof errors.JOSEError || isKeyError(error)) return [];
    throw error;
  }
  const keys: CryptoKey[] = [];
  for await (const key of error) {
    keys.push(key);
    if (keys.length === MAX_TRIES) break;
  }
  return keys;
}

/** Returns true for a key of the set that cannot be imported, or not for this algorithm. */
function isKeyError(error: unknown): boolean {
  return error instanceof TypeError || error instanceof DOMException;
}

function isJwk(value: unknown): value is JWK {
  return isJsonObject(value) && typeof value.kty === 'string' && value.kty !== 'oct';
}

async function thumbprintOf(jwk: JWK): Promise<string | undefined> {
  try {
    return await calculateJwkThumbprint(jwk);
  } catch {
    return undefined;
  }
}
