import {
  defaultPort,
  failOrigin,
  formatAuthority,
  parseAuthority,
} from '#resources/words/origin.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import { isPublicSuffix } from '#resources/words/public-suffix.ts';

/** Every origin. */
export const ANY_ORIGIN = '*';

/**
 * What browsers send for pages without an origin, such as a file, or a sandbox that any site can
 * make.
 */
const NO_ORIGIN = 'null';

/**
 * Parses an origin as browsers write it in `Origin` (RFC 6454, section 6.2). It is in lower case
 * and without the scheme's own port. `*` means any, and `https://*.example.com` every host below
 * one. Schemes other than http and https are those of applications, as `capacitor://localhost`.
 */
export function parseCorsOrigin(text: string): Parsed<string> {
  const origin = text.toLowerCase().replace(/(?<=[^/])\/$/, '');
  if (origin === ANY_ORIGIN || origin === NO_ORIGIN) return { value: origin };
  const [, scheme = '', below = '', authority = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/(\*\.)?([^/?#*@\s]+)$/.exec(origin) ?? [];
  if (authority === '')
    return failOrigin(text, 'write `*`, scheme://host or scheme://host:port, without a path');
  const target = parseAuthority(authority);
  if ('error' in target) return failOrigin(text, target.error);
  const { host, port } = target.value;
  const isWeb = scheme === 'http' || scheme === 'https';
  const shown = isWeb && port === defaultPort(scheme) ? undefined : port;
  return { value: `${scheme}://${below}${formatAuthority(host, shown)}` };
}

/** Whether strangers have pages of such an origin. */
export function isOpenOrigin(origin: string): boolean {
  const [, domain] = /:\/\/\*\.([^:]*)/.exec(origin) ?? [];
  return (
    origin === ANY_ORIGIN ||
    origin === NO_ORIGIN ||
    (domain !== undefined && isPublicSuffix(domain))
  );
}
