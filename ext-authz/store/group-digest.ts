import { hash } from 'node:crypto';

/**
 * Returns what stores keep for a group's name, which may hold a client's address. It is 32
 * hexadecimal digits of the name's SHA-256.
 */
export function groupDigest(name: string): string {
  return hash('sha256', name).slice(0, 32);
}
