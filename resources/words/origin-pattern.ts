import {
  defaultPort,
  failOrigin,
  formatAuthority,
  type Origin,
  parseAuthority,
  splitOrigin,
} from './origin.ts';
import type { Parsed } from './parsed-string.ts';

/**
 * A pattern of origins. `*` as scheme or host means any. Without a port it is any with the host
 * `*`, else the scheme's own.
 */
export type OriginPattern = {
  readonly scheme: 'http' | 'https' | '*';
  readonly host: string;
  readonly port?: number;
};

/** Which origins inside the network belong to a protected origin. */
export type InternalOrigins = {
  readonly internalOrigin: OriginPattern;
  readonly includeSubdomains: boolean;
};

/**
 * Parses an origin whose scheme, authority or both may be `*` (docs/reference/kinds/filter.md). A
 * path is ignored.
 */
export function parseOriginPattern(text: string): Parsed<OriginPattern> {
  const parts = splitOrigin(text);
  if ('error' in parts) return parts;
  const { scheme, authority } = parts.value;
  if (scheme !== 'http' && scheme !== 'https' && scheme !== '*')
    return failOrigin(text, 'it must begin with http://, https:// or *://');
  if (authority === '*') return { value: { scheme, host: '*' } };
  if (authority.includes('*'))
    return failOrigin(text, 'a "*" stands for the whole authority, host and port');
  const target = parseAuthority(authority);
  if ('error' in target) return failOrigin(text, target.error);
  const { host, port = scheme === '*' ? undefined : defaultPort(scheme) } = target.value;
  return { value: port === undefined ? { scheme, host } : { scheme, host, port } };
}

/** Formats what parseOriginPattern parsed: `*://*`, `https://example.com`. */
export function formatOriginPattern({ scheme, host, port }: OriginPattern): string {
  const shown = scheme !== '*' && port === defaultPort(scheme) ? undefined : port;
  return `${scheme}://${formatAuthority(host, shown)}`;
}

/**
 * Whether a request to this origin is meant. With includeSubdomains it may also go to a subdomain
 * of the pattern's host.
 */
export function matchesOrigin(
  { internalOrigin, includeSubdomains }: InternalOrigins,
  { scheme, host, port }: Origin,
): boolean {
  if (internalOrigin.scheme !== '*' && internalOrigin.scheme !== scheme) return false;
  if (internalOrigin.host === '*') return true;
  if ((internalOrigin.port ?? defaultPort(scheme)) !== port) return false;
  return (
    host === internalOrigin.host || (includeSubdomains && host.endsWith(`.${internalOrigin.host}`))
  );
}

/**
 * Whether there is an origin that both match. If there is one, the narrower of the two hosts is
 * one.
 */
export function overlap(a: InternalOrigins, b: InternalOrigins): boolean {
  return [a, b].some(({ internalOrigin: { host, port } }) =>
    SCHEMES.some(scheme => {
      const origin = { scheme, host, port: port ?? defaultPort(scheme) };
      return matchesOrigin(a, origin) && matchesOrigin(b, origin);
    }),
  );
}

const SCHEMES = ['http', 'https'] as const;
