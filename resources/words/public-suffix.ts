import { getPublicSuffix } from 'tldts';

/**
 * Whether browsers reject cookies for this host, since strangers share it: `com`, `co.uk`,
 * `github.io`, a single label. See the Public Suffix List (publicsuffix.org), with its private
 * domains, in the library's copy.
 */
export function isPublicSuffix(host: string): boolean {
  return getPublicSuffix(host, { allowPrivateDomains: true }) === host;
}
