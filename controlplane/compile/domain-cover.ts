/**
 * Returns the domains that cover this one, itself first, then ever wider: `a.b.c` is covered by
 * `*.b.c`, `*.c` and `*`. In this order Envoy looks for the virtual host of a request.
 */
export function coveringDomains(domain: string): readonly string[] {
  if (domain === '*') return ['*'];
  const labels = domain.split('.');
  const wildcards = labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`);
  return [...new Set([domain, ...wildcards, '*'])];
}
