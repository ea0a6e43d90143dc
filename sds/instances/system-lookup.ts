import type { LookupAddress } from 'node:dns';
import { sharedLookup } from '#process/shared-lookup.ts';
import type { QueryOutcome } from './record-set.ts';
import type { Family } from './resolve-records.ts';

/** What has no TTL, such as a name of /etc/hosts, is looked up again after this time. */
const TTL_SECONDS = 5;

/**
 * Asks as the system's own programs do, with /etc/hosts and the search domains of /etc/resolv.conf.
 * Gives up only when the system does.
 */
export function systemLookup(name: string, family: Family): Promise<QueryOutcome> {
  return new Promise(resolve =>
    sharedLookup(name, { all: true, family }, (error, found) =>
      resolve(error === null ? foundAt(found as readonly LookupAddress[]) : failureOf(error)),
    ),
  );
}

function foundAt(found: readonly LookupAddress[]): QueryOutcome {
  const addresses = found.map(({ address }) => address);
  return { kind: 'found', addresses, ttlSeconds: TTL_SECONDS };
}

function failureOf({ code, message }: NodeJS.ErrnoException): QueryOutcome {
  return code === 'ENOTFOUND' ? { kind: 'missing' } : { kind: 'failed', message };
}
