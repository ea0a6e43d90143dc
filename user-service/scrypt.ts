import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** OWASP's password storage cheat sheet: N = 2^15, r = 8, p = 3, which takes 32 MiB. */
const OPTIONS = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const PREFIX = '$scrypt$ln=15,r=8,p=3$';
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** Returns the scrypt hash (RFC 7914) of the password under a fresh salt, as a PHC string. */
export async function hashByScrypt(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return formatHash(salt, await deriveKey(password, salt));
}

export function isScryptHash(phc: string): boolean {
  return phc.startsWith('$scrypt$');
}

/** @throws an Error when the hash has parameters other than ours */
export async function verifyByScrypt(password: string, phc: string): Promise<boolean> {
  const [salt, tag] = phc.slice(PREFIX.length).split('$');
  if (!phc.startsWith(PREFIX) || salt === undefined || tag === undefined)
    throw new Error('a stored password hash is not a scrypt PHC string of ours');
  const derived = await deriveKey(password, Buffer.from(salt, 'base64'));
  return timingSafeEqual(derived, Buffer.from(tag, 'base64'));
}

/** No password is known to have this tag. Finding that out takes as long as for a stored hash. */
export const NOBODYS_SCRYPT_HASH = formatHash(Buffer.alloc(SALT_BYTES), Buffer.alloc(TAG_BYTES));

function deriveKey(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((answer, reject) =>
    scrypt(password, salt, TAG_BYTES, OPTIONS, (error, key) =>
      error === null ? answer(key) : reject(error),
    ),
  );
}

function formatHash(salt: Buffer, tag: Buffer): string {
  return PREFIX + [salt, tag].map(bytes => bytes.toString('base64').replace(/=+$/, '')).join('$');
}
