/**
 * Whether browsers refuse cookies for this host, since strangers share it. A host of one label (`com`, `localhost`) is such a suffix;
 * the Public Suffix List (publicsuffix.org), which also has `co.uk`, is not asked.
 */
export function isPublicSuffix(host: string): boolean {
  return !host.includes('.');
}
