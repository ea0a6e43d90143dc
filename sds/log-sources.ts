import type { Logger } from 'pino';
import { isMissed } from './instances/record-set.ts';
import type { Queried, WatchDnsOptions } from './instances/watch-dns.ts';
import type { Metrics } from './metrics.ts';

/**
 * Counts each DNS query. Logs the first failure in a row and its end, and so for a name without any
 * address.
 */
export function dnsReports(log: Logger, metrics: Metrics): WatchDnsOptions['onQueried'] {
  return queried => {
    metrics.dnsQueried(queried.outcome.kind);
    tellFailure(log, queried);
    tellMissed(log, queried);
  };
}

function tellFailure(log: Logger, { before, family, name, outcome, set }: Queried): void {
  const query = `${name} ${family === 4 ? 'A' : 'AAAA'}`;
  if (outcome.kind !== 'failed') {
    if (before.failures > 0) log.info({ query }, 'DNS answers again');
  } else if (before.failures === 0)
    log.warn(
      { query, reason: outcome.message },
      set.addresses.length === 0
        ? 'DNS query failed, and no address is known'
        : 'DNS query failed, so the last answer stays in force',
    );
}

/** Most names have no address of one family, which is no mistake. */
function tellMissed(log: Logger, { before, name, other, set }: Queried): void {
  if (!isMissed(other) || isMissed(before) === isMissed(set)) return;
  if (isMissed(set)) log.warn({ name }, `DNS has no address for "${name}"`);
  else log.info({ name }, `DNS has an address for "${name}" again`);
}
