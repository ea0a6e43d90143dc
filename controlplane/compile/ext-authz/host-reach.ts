import { type Glob, matchGlob, parseGlob } from '#resources/match/glob.ts';
import { coveringDomains } from '../domain-cover.ts';

/**
 * Tells for a virtual host's domain (`*`, `*.example.com` or a host) whether one of many rules'
 * hosts may match a request in it.
 */
export type HostReach = (domain: string) => boolean;

/**
 * Returns true when in doubt. A needless filter costs time, and a missing one costs more. Globs
 * without `*`, of which there may be very many, are looked up, not tried.
 */
export function hostReach(hostGlobs: Iterable<string>): HostReach {
  const texts = [...new Set(hostGlobs)];
  const globs: readonly Glob[] = texts.map(parseGlob).filter(({ suffix }) => suffix !== undefined);
  const exact = new Set(texts.filter(text => !text.includes('*')));
  const around = new Set([...exact].flatMap(coveringDomains));
  return domain => {
    if (domain.startsWith('*')) return globs.length > 0 || around.has(domain);
    const host = domain.includes(':') ? `[${domain}]` : domain;
    return exact.has(host) || globs.some(glob => matchGlob(glob, host));
  };
}
