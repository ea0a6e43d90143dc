import { lookup } from 'node:dns/promises';
import type { QueryOutcome } from './record-set.ts';
import type { Family } from './resolve-records.ts';

/** What has no TTL, such as a name of /etc/hosts, is looked up again after this time. */
const TTL_SECONDS = 5;

/** The lookups that have no answer yet. A silent name server keeps a thread for a minute. */
const asked = new Map<string, Promise<QueryOutcome>>();

/**
 * Asks as the system's own programs do, with /etc/hosts and the search domains of /etc/resolv.conf.
 * Gives up only when the system does, so a call while a lookup of the same goes on waits for that.
 */
export function systemLookup(name: string, family: Family): Promise<QueryOutcome> {
  const key = `${name} ${family}`;
  const known = asked.get(key);
  if (known !== undefined) return known;
  const answer = ask(name, family).finally(() => asked.delete(key));
  asked.set(key, answer);
  return answer;
}

async function ask(name: string, family: Family): Promise<QueryOutcome> {
  try {
    const found = await lookup(name, { all: true, family });
    return { kind: 'found', addresses: found.map(each => each.address), ttlSeconds: TTL_SECONDS };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOTFOUND' ? { kind: 'missing' } : { kind: 'failed', message };
  }
}
