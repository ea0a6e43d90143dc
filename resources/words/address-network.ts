import { isIPv6 } from 'node:net';

/** How many leading bits of an address tell clients apart. */
export type PrefixLengths = { readonly ipv4: number; readonly ipv6: number };

/**
 * Returns what counts as one client. It is the network of an address, in the spelling of RFC 5952
 * and with its prefix length, as Envoy's `masked_remote_address` writes it. A whole address has no
 * prefix length. An IPv4 address mapped into IPv6 counts as that IPv4 address (RFC 4291 section
 * 2.5.5.2). A link-local network keeps the zone of its address (RFC 4007 section 11). What is no
 * address counts as itself.
 */
export function addressNetwork(address: string, { ipv4, ipv6 }: PrefixLengths): string {
  if (!address.includes(':')) return ipv4 >= 32 ? address : ipv4Network(address, ipv4);
  if (!isIPv6(address)) return address;
  const zone = /%.*/s.exec(address)?.[0] ?? '';
  const groups = parseIpv6(address.replace(zone, ''));
  if (isMapped(groups)) return addressNetwork(dotted(groups), { ipv4, ipv6 });
  const network = formatIpv6(groups.map((group, at) => maskGroup(group, ipv6 - 16 * at)));
  return ipv6 >= 128 ? network + zone : `${network}${zone}/${ipv6}`;
}

function ipv4Network(address: string, length: number): string {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(address)) return address;
  const bits = address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
  const mask = 2 ** (32 - length);
  const network = Math.floor(bits / mask) * mask;
  return `${[24, 16, 8, 0].map(shift => Math.floor(network / 2 ** shift) % 256).join('.')}/${length}`;
}

/** Returns the eight groups of a valid address. */
function parseIpv6(address: string): readonly number[] {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [hex(Number(a) * 256 + Number(b)), hex(Number(c) * 256 + Number(d))].join(':'),
  );
  const [head = [], tail] = plain.split('::').map(half => (half === '' ? [] : half.split(':')));
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array<string>(zeros).fill('0'), ...(tail ?? [])].map(group =>
    Number.parseInt(group, 16),
  );
}

function isMapped(groups: readonly number[]): boolean {
  return groups.every((group, at) => at > 5 || group === (at === 5 ? 0xffff : 0));
}

function dotted(groups: readonly number[]): string {
  return groups
    .slice(6)
    .flatMap(group => [group >> 8, group & 255])
    .join('.');
}

/** Keeps this many leading bits of a group's 16. */
function maskGroup(group: number, bits: number): number {
  const cleared = Math.min(16, Math.max(0, 16 - bits));
  return (group >> cleared) << cleared;
}

/**
 * Leaves out the longest run of two zeros or more, the first of equal ones. See RFC 5952 section
 * 4.2.
 */
function formatIpv6(groups: readonly number[]): string {
  const text = groups.map(hex).join(':');
  const [longest] = [...text.matchAll(/\b0(?::0)+\b/g)].sort(([a], [b]) => b.length - a.length);
  if (longest === undefined) return text;
  const [before, after] = [
    text.slice(0, longest.index),
    text.slice(longest.index + longest[0].length),
  ];
  return `${before.replace(/:$/, '')}::${after.replace(/^:/, '')}`;
}

function hex(number: number): string {
  return number.toString(16);
}
