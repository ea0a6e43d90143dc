import { createHash } from 'node:crypto';

/** A DNS label has 63 characters at most, and 17 are for the hash. */
const LONGEST_NAME = 46;
/**
 * The names of Gateways are chosen by the users of their namespaces. With fewer digits, one of them
 * could search for a name that has the group, and so the identity, of another one's proxies.
 */
const HASH_DIGITS = 16;

/**
 * Returns the node group of a Gateway's proxies. It is a DNS label (RFC 1123). The hash keeps two
 * Gateways apart whose names are cut, or meet around the hyphen.
 */
export function gatewayGroup(namespace: string, name: string): string {
  const readable = `${namespace}-${name}`.replaceAll('.', '-').slice(0, LONGEST_NAME);
  return `${readable}-${longHash(`${namespace}/${name}`)}`;
}

/**
 * Returns whether the name is one of a Gateway's group. No other group may have such a name
 * (`nodeGroup`), since these proxies may ask what the edge may ask.
 */
export function isGatewayGroup(name: string): boolean {
  return new RegExp(`-[0-9a-f]{${HASH_DIGITS}}$`).test(name);
}

/**
 * What follows a service's name in the node group of one of its instances, as an expression. It
 * never has as many digits as the hash of a Gateway's group, which may have no letter.
 */
export const INSTANCE = `-(?:[0-9]{1,${HASH_DIGITS - 1}}|[0-9]{${HASH_DIGITS + 1},})`;

/** Returns 16 hex digits of a text's SHA-256, for a name that is not to be met. */
export function longHash(text: string): string {
  return hashOf(text, HASH_DIGITS);
}

/** Returns 8 hex digits of a text's SHA-256, for a name that is cut. */
export function shortHash(text: string): string {
  return hashOf(text, 8);
}

function hashOf(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
