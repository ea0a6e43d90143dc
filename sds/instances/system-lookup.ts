import { lookup } from 'node:dns/promises';
import type { QueryOutcome } from './record-set.ts';
import type { Family } from './resolve-records.ts';

/** What has no TTL, such as a name of /etc/hosts, is looked up again after this time. */
const TTL_SECONDS = 5;

/**
 * Asks as the system's own programs do, with /etc/hosts and the search domains of /etc/resolv.conf.
 */
export async function systemLookup(name: string, family: Family): Promise<QueryOutcome> {
  try {
    const found = await lookup(name, { all: true, family });
    return { kind: 'found', addresses: found.map(each => each.address), ttlSeconds: TTL_SECONDS };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOTFOUND' ? { kind: 'missing' } : { kind: 'failed', message };
  }
}
