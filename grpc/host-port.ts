import { isIPv6 } from 'node:net';

/** Where a server listens or is found. */
export type HostPort = { readonly host: string; readonly port: number };

/**
 * Parses `host:port`, with an IPv6 address in brackets. Port 0 is allowed and means any free one. A
 * host has letters, digits, `.`, `-` and `_` (RFC 952, and what orchestrators call their services).
 * @returns undefined when the text is no such address
 */
export function parseHostPort(text: string): HostPort | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([\w.-]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535) return undefined;
  return bracketed === undefined || isIPv6(bracketed) ? { host, port } : undefined;
}

/** The inverse of parseHostPort. */
export function formatHostPort({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
