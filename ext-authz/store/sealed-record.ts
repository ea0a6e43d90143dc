import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';

/**
 * What a record is for (`session`, `attempt`, `ticket`, `token`…) and of which Filter. A record is
 * found and read only as what it was made for.
 */
export type SealScope = { readonly kind: string; readonly realm: string };

/** Where a record is and how it is read. Holds or derives secrets. Never log it. */
export type RecordSeal = {
  /** The record's key in the store: 64 hexadecimal digits that reveal nothing. */
  readonly key: string;
  /** Derived on the first call, because a record that is known already needs no decryption. */
  readonly encryptionKey: () => Uint8Array;
};

/** Returns fresh random bytes, as node:crypto's `randomBytes`. */
export type RandomBytes = (size: number) => Uint8Array;

const FORMAT = 1;
// A random nonce of 96 bits (NIST SP 800-38D 8.2.2). Each key encrypts a few records in its life,
// far below 2^32.
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** Returns a session id or xsrf token: 256 random bits as 64 lowercase hexadecimal digits. */
export function newSecret(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(32)).toString('hex');
}

/** Returns whether a text from outside has the form of what `newSecret` makes. */
export function isSecret(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** Returns a state, nonce or ticket: 256 random bits as 43 characters of base64url (RFC 4648). */
export function newUrlSecret(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(32)).toString('base64url');
}

/** Returns whether a text from outside has the form of what `newUrlSecret` makes. */
export function isUrlSecret(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/**
 * Returns the seal of a record whose secret only its bearer knows (a cookie's value). Its key in
 * the store is a SHA-256 of the secret. Its encryption key is derived from the secret by
 * HKDF-SHA-256 (RFC 5869). Kind and realm are in both. The secret must be one of `newSecret`, never
 * something that can be guessed. See docs/adr/0014-session-store.md.
 */
export function sealOfSecret(secret: string, scope: SealScope): RecordSeal {
  return sealsOfSecrets(scope)(secret);
}

/** Returns the same for many secrets of one scope. */
export function sealsOfSecrets(scope: SealScope): (secret: string) => RecordSeal {
  const begin = encodeParts(['gateway record key 1', scope.kind, scope.realm]).slice(0, -1);
  return secret => ({
    key: hash('sha256', `${begin},${JSON.stringify(secret)}]`),
    encryptionKey: () => deriveKey(secret, scope),
  });
}

/**
 * Returns the seal of a record that the bearer of these credentials may read, with the help of the
 * gateway's store key. Its key in the store is an HMAC-SHA-256 (RFC 2104) of them under the store
 * key. Its encryption key comes from both, too. A thief of the store alone cannot even try
 * credentials. Parts are told apart whatever is in them. See docs/adr/0014-session-store.md.
 */
export function sealOfCredentials(
  storeKey: KeyObject,
  { kind, realm }: SealScope,
  parts: readonly string[],
): RecordSeal {
  return {
    key: keyedDigest(storeKey, ['gateway record key 1', kind, realm, ...parts]),
    encryptionKey: () =>
      deriveKey(keyedDigest(storeKey, ['gateway record secret 1', kind, realm, ...parts]), {
        kind,
        realm,
      }),
  };
}

/**
 * Returns the key of a counter or lease, or the name of a group, about what could be guessed (a
 * user name, an address). It is an HMAC-SHA-256 under the store key.
 */
export function storeName(
  storeKey: KeyObject,
  { kind, realm }: SealScope,
  parts: readonly string[],
): string {
  return keyedDigest(storeKey, ['gateway name 1', kind, realm, ...parts]);
}

/** Seals a value of JSON as `sealBytes` does. Throws TypeError for what JSON cannot express. */
export function sealRecord(seal: RecordSeal, value: unknown, randomBytes: RandomBytes): Uint8Array {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError('a record that is not JSON');
  return sealBytes(seal, Buffer.from(text), randomBytes);
}

/**
 * Encrypts with AES-256-GCM (NIST SP 800-38D), bound to the record's key. The result is a format
 * byte, a fresh nonce, the ciphertext and its tag.
 */
export function sealBytes(
  seal: RecordSeal,
  bytes: Uint8Array,
  randomBytes: RandomBytes,
): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, seal.encryptionKey(), nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(boundTo(seal));
  const encrypted = cipher.update(bytes);
  return Buffer.concat([
    Uint8Array.of(FORMAT),
    nonce,
    encrypted,
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

/**
 * Returns the value.
 * @returns undefined for what `openBytes` does not open, as if there were no record
 */
export function openRecord(seal: RecordSeal, sealed: Uint8Array): unknown {
  const bytes = openBytes(seal, sealed);
  try {
    return bytes && JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Decrypts what `sealBytes` made.
 * @returns undefined when it was not sealed by this seal, is of another format, was tampered with
 * or cut off
 */
export function openBytes(seal: RecordSeal, sealed: Uint8Array): Uint8Array | undefined {
  const end = sealed.length - TAG_BYTES;
  if (sealed[0] !== FORMAT || end < 1 + NONCE_BYTES) return undefined;
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, seal.encryptionKey(), nonce, {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(boundTo(seal)).setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([
      decipher.update(sealed.subarray(1 + NONCE_BYTES, end)),
      decipher.final(),
    ]);
  } catch {
    return undefined;
  }
}

function boundTo({ key }: RecordSeal): Uint8Array {
  return Buffer.from(encodeParts(['gateway record', `${FORMAT}`, key]));
}

/**
 * RFC 5869 without salt (3.1), because the input is uniformly random. The info is hashed because
 * Node takes at most 1,024 bytes of it.
 */
function deriveKey(secret: string, { kind, realm }: SealScope): Uint8Array {
  const info = hash('sha256', encodeParts(['gateway record encryption 1', kind, realm]), 'buffer');
  return new Uint8Array(hkdfSync('sha256', secret, '', info, 32));
}

function keyedDigest(storeKey: KeyObject, parts: readonly string[]): string {
  return createHmac('sha256', storeKey).update(encodeParts(parts)).digest('hex');
}

/**
 * Encodes as JSON. No two lists have the same text, and a lone surrogate is escaped and not
 * replaced.
 */
function encodeParts(parts: readonly string[]): string {
  return JSON.stringify(parts);
}
