import { createHash } from 'node:crypto';

/** A DNS label has 63 characters at most, and 9 are for the hash. */
const LONGEST_NAME = 54;

/**
 * Returns the node group of a Gateway's proxies. It is a DNS label (RFC 1123). The hash keeps two
 * Gateways apart whose names are cut, or meet around the hyphen.
 */
export function gatewayGroup(namespace: string, name: string): string {
  const hash = createHash('sha256').update(`${namespace}/${name}`).digest('hex').slice(0, 8);
  const readable = `${namespace}-${name}`.replaceAll('.', '-').slice(0, LONGEST_NAME);
  return `${readable}-${hash}`;
}
