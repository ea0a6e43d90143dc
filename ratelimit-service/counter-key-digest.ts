import { hash } from 'node:crypto';

/**
 * SHA-256 of a counter's key, 43 characters of base64url: bounded, and readable by nobody. Of the
 * UTF-16 text, so that keys that differ only in characters that have no UTF-8 differ here too.
 */
export function counterKeyDigest(key: string): string {
  return hash('sha256', Buffer.from(key, 'utf16le'), 'base64url');
}
