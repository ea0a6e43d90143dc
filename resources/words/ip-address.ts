import { isIP, SocketAddress } from 'node:net';

/** Returns 4 or 6 for a literal IP address without brackets, port or zone, else 0. */
export function ipVersion(text: string): 0 | 4 | 6 {
  return text.includes('%') ? 0 : (isIP(text) as 0 | 4 | 6);
}

/**
 * Returns an IP address in the spelling of RFC 5952, as Envoy writes it.
 * @returns undefined when it is no address
 */
export function canonicalAddress(text: string): string | undefined {
  const version = ipVersion(text);
  if (version === 0) return undefined;
  return new SocketAddress({ address: text, family: version === 6 ? 'ipv6' : 'ipv4' }).address;
}
