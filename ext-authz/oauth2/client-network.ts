import { ipVersion } from '#resources/ip-address.ts';

/** What counts as one client: an IPv4 address, or the /64 of an IPv6 one (RFC 6177). Anything else counts as itself. */
export function clientNetwork(address: string): string {
  if (ipVersion(address) !== 6) return address;
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(shortest);
  if (mapped !== null) return ipv4(mapped[1] ?? '', mapped[2] ?? '');
  const [head = '', tail = ''] = shortest.split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail === '' ? [] : tail.split(':');
  const zeros = shortest.includes('::') ? 8 - groups.length - last.length : 0;
  return `${[...groups, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4).join(':')}::/64`;
}

/** RFC 4291 section 2.5.5.2 */
function ipv4(high: string, low: string): string {
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}
