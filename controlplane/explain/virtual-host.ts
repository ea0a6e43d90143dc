import type { VirtualHost } from './route-configuration.ts';

/**
 * Returns the virtual host that Envoy chooses for this host, which has no port. It is the one that
 * names the host, else the longest wildcard in front (`*.example.com`), else the longest behind
 * (`example.*`), else `*`. Source: Envoy's page of `VirtualHost.domains`.
 */
export function findVirtualHost(
  hosts: readonly VirtualHost[],
  requested: string,
): VirtualHost | undefined {
  const host = requested.toLowerCase();
  let best: { readonly rank: number; readonly virtualHost: VirtualHost } | undefined;
  for (const virtualHost of hosts) {
    for (const domain of virtualHost.domains) {
      const rank = rankOf(domain.toLowerCase(), host);
      if (rank >= 0 && rank > (best?.rank ?? -1)) best = { rank, virtualHost };
    }
  }
  return best?.virtualHost;
}

/** Longer than any domain. */
const FRONT = 2 ** 20;
const EXACT = 2 ** 40;

/** Returns a rank. The higher one wins, and -1 means that the domain does not cover the host. */
function rankOf(domain: string, host: string): number {
  if (domain === '*') return 0;
  if (domain === host) return EXACT;
  // A wildcard stands for at least one character.
  if (domain.length > host.length) return -1;
  if (domain.startsWith('*')) return host.endsWith(domain.slice(1)) ? FRONT + domain.length : -1;
  return domain.endsWith('*') && host.startsWith(domain.slice(0, -1)) ? domain.length : -1;
}
