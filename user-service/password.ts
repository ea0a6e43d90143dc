import * as crypto from 'node:crypto';
import { promisify } from 'node:util';
import type { Limiter } from './limiter.ts';
import { hashByScrypt, isScryptHash, NOBODYS_SCRYPT_HASH, verifyByScrypt } from './scrypt.ts';

/** Undefined in a Node before 24.7. There scrypt hashes new passwords. */
const { argon2, randomBytes, timingSafeEqual } = crypto as Partial<typeof crypto> & typeof crypto;

const deriveKey = argon2 === undefined ? undefined : promisify(argon2);

/** OWASP's password storage cheat sheet: argon2id with 19 MiB, two passes, one lane. */
const PARAMETERS = { memory: 19456, passes: 2, parallelism: 1 } as const;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

type Hash = {
  /** KiB */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly salt: Buffer;
  readonly tag: Buffer;
};

/**
 * Hashes and verifies at the same cost of time and memory, under the limiter. Rejects with
 * Overloaded when too many wait.
 */
export type Passwords = {
  /**
   * Returns the hash of the password under a fresh salt, as a PHC string of argon2id, or of scrypt
   * where this Node has no argon2.
   */
  readonly hash: (password: string) => Promise<string>;
  /**
   * Returns whether the password is the hash's. Without a hash it is always false, after the same
   * work.
   */
  readonly verify: (password: string, hash: string | undefined) => Promise<boolean>;
};

/**
 * Opens Argon2id (RFC 9106) with as many derivations at a time as `limit` lets through. Each takes
 * 19 MiB and one thread.
 */
export function passwords(limit: Limiter): Passwords {
  return {
    hash: password =>
      limit(() => (deriveKey !== undefined ? hashPassword(password) : hashByScrypt(password))),
    verify: (password, hash) => limit(() => verifyPassword(password, hash ?? NOBODYS_HASH)),
  };
}

async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return formatHash({ ...PARAMETERS, salt, tag: await derive(password, salt, PARAMETERS) });
}

async function verifyPassword(password: string, phc: string): Promise<boolean> {
  if (isScryptHash(phc)) return await verifyByScrypt(password, phc);
  const { salt, tag, ...parameters } = parseHash(phc);
  return timingSafeEqual(await derive(password, salt, parameters, tag.length), tag);
}

async function derive(
  message: string,
  nonce: Buffer,
  parameters: Omit<Hash, 'salt' | 'tag'>,
  tagLength = TAG_BYTES,
): Promise<Buffer> {
  if (deriveKey === undefined)
    throw new Error('a stored password hash is of argon2id, which Node.js 24.7 has');
  return await deriveKey('argon2id', { ...parameters, nonce, tagLength, message });
}

/**
 * Writes the PHC string format: `$argon2id$v=19$m=<KiB>,t=<passes>,p=<lanes>$<salt>$<tag>`, base64
 * without padding.
 */
function formatHash({ memory, passes, parallelism, salt, tag }: Hash): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${toBase64(salt)}$${toBase64(tag)}`;
}

function parseHash(phc: string): Hash {
  const fields = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(phc);
  if (fields === null) throw new Error('a stored password hash is not an argon2id PHC string');
  const [, memory, passes, parallelism, salt = '', tag = ''] = fields;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

/** No password is known to have this tag. Finding that out takes as long as for a stored hash. */
const NOBODYS_HASH =
  deriveKey !== undefined
    ? formatHash({
        ...PARAMETERS,
        salt: Buffer.alloc(SALT_BYTES),
        tag: Buffer.alloc(TAG_BYTES),
      })
    : NOBODYS_SCRYPT_HASH;
