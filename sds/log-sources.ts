import type { Logger } from 'pino';
import { isMissed, type RecordSet } from './instances/record-set.ts';
import type { Family } from './instances/resolve-records.ts';
import type { WatchDnsOptions } from './instances/watch-dns.ts';
import type { Metrics } from './metrics.ts';

/**
 * Counts each DNS query. Logs the first failure in a row and its end, and so for a name without any
 * address.
 */
export function dnsReports(log: Logger, metrics: Metrics): WatchDnsOptions['onQueried'] {
  const failing = new Set<string>();
  const missed = missedReports(log);
  return (name, family, outcome, set) => {
    metrics.dnsQueried(outcome.kind);
    missed(name, family, set);
    const query = `${name} ${family === 4 ? 'A' : 'AAAA'}`;
    if (outcome.kind === 'failed') {
      if (!failing.has(query))
        log.warn(
          { query, reason: outcome.message },
          set.addresses.length === 0
            ? 'DNS query failed, and no address is known'
            : 'DNS query failed, so the last answer stays in force',
        );
      failing.add(query);
    } else if (failing.delete(query)) {
      log.info({ query }, 'DNS answers again');
    }
  };
}

/** Most names have no address of one family, which is no mistake. */
function missedReports(log: Logger): (name: string, family: Family, set: RecordSet) => void {
  const missed = new Map<string, ReadonlySet<Family>>();
  return (name, family, set) => {
    const before = missed.get(name) ?? new Set();
    const now = new Set(before);
    if (isMissed(set)) now.add(family);
    else if (set.misses === 0) now.delete(family);
    missed.set(name, now);
    if (now.size === before.size) return;
    if (now.size === 2) log.warn({ name }, `DNS has no address for "${name}"`);
    else if (before.size === 2) log.info({ name }, `DNS has an address for "${name}" again`);
  };
}
