import { getPublicSuffix } from 'tldts';

/**
 * Whether browsers refuse cookies for this host, since strangers share it: `com`, `co.uk`,
 * `github.io`, a single label. Source: the Public Suffix List (publicsuffix.org), its private
 * domains too, as the library carries it.
 */
export function isPublicSuffix(host: string): boolean {
  return getPublicSuffix(host, { allowPrivateDomains: true }) === host;
}
