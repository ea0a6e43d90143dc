import { hash } from 'node:crypto';

/**
 * What stores keep for a group's name, which may hold a client's address: 32 hexadecimal digits of
 * its SHA-256.
 */
export function groupDigest(name: string): string {
  return hash('sha256', name).slice(0, 32);
}
