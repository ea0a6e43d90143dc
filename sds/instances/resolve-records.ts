import { lookup, Resolver } from 'node:dns/promises';
import type { Outcome } from './record-set.ts';

export type Family = 4 | 6;

/** Asks once for the A (4) or AAAA (6) records of a name. Never rejects; an aborted query has failed. */
export type ResolveRecords = (name: string, family: Family, signal: AbortSignal) => Promise<Outcome>;

export type ResolverOptions = {
  /** `address` or `address:port` of the name servers to ask; empty: those of the system. */
  readonly servers: readonly string[];
  /** Bound of one whole query, retries and TCP included, in ms. */
  readonly timeoutMs: number;
};

/** What has no TTL, such as a name of /etc/hosts, is looked up again after this time. */
const LOOKUP_TTL_SECONDS = 5;

const MISSING: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * A resolver over DNS. What DNS does not have is looked up as the system does, which also knows /etc/hosts
 * and the search domains of /etc/resolv.conf.
 */
export function dnsResolver(options: ResolverOptions): ResolveRecords {
  return async (name, family, signal) => {
    const outcome = await query(options, name, family, signal);
    return outcome.kind === 'missing' ? systemLookup(name, family) : outcome;
  };
}

async function query(
  { servers, timeoutMs }: ResolverOptions,
  name: string,
  family: Family,
  signal: AbortSignal,
): Promise<Outcome> {
  // A new resolver each time: it reads /etc/resolv.conf anew, and holds no cache that outlives a TTL.
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  const end = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const cancel = () => resolver.cancel();
  end.addEventListener('abort', cancel);
  try {
    const ttl = { ttl: true } as const;
    const records = await (family === 4 ? resolver.resolve4(name, ttl) : resolver.resolve6(name, ttl));
    if (records.length === 0) return { kind: 'missing' };
    const ttlSeconds = Math.min(...records.map(record => record.ttl));
    return { kind: 'found', addresses: records.map(record => record.address), ttlSeconds };
  } catch (error) {
    return toOutcome(error);
  } finally {
    end.removeEventListener('abort', cancel);
  }
}

async function systemLookup(name: string, family: Family): Promise<Outcome> {
  try {
    const found = await lookup(name, { all: true, family });
    const addresses = found.map(each => each.address);
    return { kind: 'found', addresses, ttlSeconds: LOOKUP_TTL_SECONDS };
  } catch (error) {
    return toOutcome(error);
  }
}

function toOutcome(error: unknown): Outcome {
  const { code, message } = error as NodeJS.ErrnoException;
  return MISSING.has(code) ? { kind: 'missing' } : { kind: 'failed', message };
}
