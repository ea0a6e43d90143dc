import { parseHostPort } from './host.ts';
import { ipVersion } from './ip-address.ts';
import type { Parsed } from './parsed-string.ts';

/**
 * Scheme and authority of a URL (RFC 6454). `host` is as in parseHost, and IPv6 is in its shortest
 * form, without brackets.
 */
export type Origin = {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
};

/**
 * Parses `http://` or `https://` with a host, perhaps a port. A path is ignored
 * (docs/reference/kinds/filter.md).
 */
export function parseOrigin(text: string): Parsed<Origin> {
  const parts = splitOrigin(text);
  if ('error' in parts) return parts;
  const { scheme, authority } = parts.value;
  if (scheme !== 'http' && scheme !== 'https')
    return failOrigin(text, 'it must begin with http:// or https://');
  if (authority.includes('*')) return failOrigin(text, 'a "*" is allowed in `internalOrigin` only');
  const target = parseAuthority(authority);
  if ('error' in target) return failOrigin(text, target.error);
  const { host, port = defaultPort(scheme) } = target.value;
  return { value: { scheme, host, port } };
}

/**
 * Formats `https://example.com` as browsers write it, with the port unless it is the scheme's own.
 */
export function formatOrigin({ scheme, host, port }: Origin): string {
  return `${scheme}://${formatAuthority(host, port === defaultPort(scheme) ? undefined : port)}`;
}

export function defaultPort(scheme: 'http' | 'https'): number {
  return scheme === 'https' ? 443 : 80;
}

/** Splits a text into the scheme in lower case, and the authority as it is written. */
export function splitOrigin(
  text: string,
): Parsed<{ readonly scheme: string; readonly authority: string }> {
  const [, scheme = '', authority = ''] = /^([^:/?#]+):\/\/([^/?#]+)/.exec(text) ?? [];
  if (authority.includes('@'))
    return failOrigin(text, 'it may not have a user name or password ("@")');
  if (scheme === '') return failOrigin(text, 'write scheme://host or scheme://host:port');
  return { value: { scheme: scheme.toLowerCase(), authority } };
}

/** Parses `host` or `host:port`, with one spelling for each IPv6 address. */
export function parseAuthority(
  authority: string,
): Parsed<{ readonly host: string; readonly port?: number }> {
  const target = parseHostPort(authority);
  if ('error' in target || ipVersion(target.value.host) !== 6) return target;
  const host = new URL(`http://[${target.value.host}]`).hostname.slice(1, -1);
  return { value: { ...target.value, host } };
}

export function formatAuthority(host: string, port: number | undefined): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === undefined ? name : `${name}:${port}`;
}

/** Returns a warning of a path after the authority: an origin has none (RFC 6454). */
export function pathInOrigin(text: string): string | undefined {
  const [, path = ''] = /^[^:/?#]+:\/\/[^/?#]+(.*)$/.exec(text) ?? [];
  if (path === '' || path === '/') return undefined;
  const shown = text.includes('@') ? '' : ` ${JSON.stringify(path.slice(0, 80))}`;
  return `an origin has no path: what follows the host${shown} has no effect, and all paths are meant`;
}

/** What may have a password in it is not quoted. */
export function failOrigin(text: string, reason: string): Parsed<never> {
  const shown = text.includes('@') ? '' : ` ${JSON.stringify(text.slice(0, 80))}`;
  return { error: `Cannot parse origin${shown}: ${reason}` };
}

/** Whether the host is this machine itself. */
export function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host === '::1' || (ipVersion(host) === 4 && host.startsWith('127.'))
  );
}
