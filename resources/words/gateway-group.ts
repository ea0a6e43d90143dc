import { createHash } from 'node:crypto';

const LONGEST_NAME = 54;
const HASH_DIGITS = 8;

/**
 * Returns the node group of a Gateway's own proxies. It is a DNS label of at most 63 characters,
 * which begins with the namespace and the name.
 */
export function gatewayGroup(namespace: string, name: string): string {
  const readable = `${namespace}-${name}`.replaceAll('.', '-').slice(0, LONGEST_NAME);
  return `${readable.replace(/-+$/, '')}-${shortHash(`${namespace}/${name}`)}`;
}

/** Returns 8 hex digits of a text's SHA-256, for names that are cut. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS);
}
