import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** What a browser may do with the console's pages. All they load is our own. */
export function securityHeaders(importMapHash: string): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src 'self' '${importMapHash}'`,
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  };
}

/** Returns whether an address is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * Returns whether `Host` names the loopback. A page of another site can point its own name at
 * 127.0.0.1, and would then read what it finds (DNS rebinding).
 */
export function isLoopbackHost(authority: string | undefined): boolean {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(authority ?? '') ?? [];
  return isLoopback(name.toLowerCase().replace(/^\[(.*)\]$/, '$1'));
}

/**
 * Returns whether a request came over the loopback by another name. One without a name is no
 * browser's.
 */
export function isRebound({ headers: { host }, socket }: IncomingMessage): boolean {
  return host !== undefined && isLoopbackAddress(socket.localAddress) && !isLoopbackHost(host);
}

/** Takes IPv4 in the form of IPv6 too, as a socket for both has it. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return isLoopback(address?.replace(/^::ffff:/, '') ?? '');
}

/**
 * Returns whether a request comes from the console's own page. A browser always says so of what
 * changes something. What says nothing is no browser, and gets no cookie or login of one.
 */
export function isSameOrigin(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const { host, origin } = headers;
  if (origin === undefined) return true;
  return (
    host !== undefined && /^https?:\/\//.test(origin) && origin.replace(/^https?:\/\//, '') === host
  );
}
