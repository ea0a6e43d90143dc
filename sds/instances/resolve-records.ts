import { Resolver } from 'node:dns/promises';
import type { QueryOutcome } from './record-set.ts';

export type Family = 4 | 6;

/**
 * Asks once for the A (4) or AAAA (6) records of a name. Never rejects. An aborted query counts as
 * failed.
 */
export type ResolveRecords = (
  name: string,
  family: Family,
  signal: AbortSignal,
) => Promise<QueryOutcome>;

export type ResolverOptions = {
  /** `address` or `address:port` of the name servers to ask. Empty means those of the system. */
  readonly servers: readonly string[];
  /** Bound of one whole query, retries and TCP included, in ms. */
  readonly timeoutMs: number;
  /** Called for a name that does not exist in DNS. */
  lookup(name: string, family: Family): Promise<QueryOutcome>;
};

/**
 * Resolves over DNS, whose answers have a TTL. Names that DNS does not have fall back to `lookup`.
 */
export function dnsResolver(options: ResolverOptions): ResolveRecords {
  return async (name, family, signal) => {
    // A new resolver reads /etc/resolv.conf again, and holds no cache that outlives a TTL.
    const resolver = new Resolver({ timeout: Math.ceil(options.timeoutMs / 3), tries: 2 });
    if (options.servers.length > 0) resolver.setServers(options.servers);
    // AbortSignal.any would leak here: Node keeps a piece for each signal made from a long-lived
    // one.
    const ends = [signal, AbortSignal.timeout(options.timeoutMs)];
    const late = Promise.withResolvers<QueryOutcome>();
    const cancel = () => {
      resolver.cancel();
      late.resolve({ kind: 'failed', message: `no answer within ${options.timeoutMs} ms` });
    };
    for (const end of ends) end.addEventListener('abort', cancel);
    try {
      return await query(resolver, name, family);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // A name without such records (ENODATA) exists in DNS. A lookup could find another name.
      if (code === 'ENOTFOUND')
        return await Promise.race([options.lookup(name, family), late.promise]);
      return code === 'ENODATA' ? { kind: 'missing' } : { kind: 'failed', message };
    } finally {
      for (const end of ends) end.removeEventListener('abort', cancel);
    }
  };
}

async function query(resolver: Resolver, name: string, family: Family): Promise<QueryOutcome> {
  const ttl = { ttl: true } as const;
  const records = await (family === 4
    ? resolver.resolve4(name, ttl)
    : resolver.resolve6(name, ttl));
  if (records.length === 0) return { kind: 'missing' };
  const ttlSeconds = Math.min(...records.map(record => record.ttl));
  return { kind: 'found', addresses: records.map(record => record.address), ttlSeconds };
}
