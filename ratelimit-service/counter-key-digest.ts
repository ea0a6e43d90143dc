import { hash } from 'node:crypto';

/**
 * Returns the SHA-256 of a counter's key as 43 characters of base64url. It is bounded, and nobody
 * can read the key in it. The digest is of the UTF-16 text, so keys that differ only in characters
 * without UTF-8 have different digests.
 */
export function counterKeyDigest(key: string): string {
  return hash('sha256', Buffer.from(key, 'utf16le'), 'base64url');
}
