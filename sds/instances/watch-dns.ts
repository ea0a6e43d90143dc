import { isIP } from 'node:net';
import type { After } from '#process/after.ts';
import {
  nextQueryMs,
  nextRecordSet,
  type QueryOutcome,
  type RecordSet,
  UNASKED,
} from './record-set.ts';
import type { Family, ResolveRecords } from './resolve-records.ts';

/**
 * Follows all addresses of a name until the result is called. `onChange` receives them when IPv4
 * and IPv6 were both queried once, and when they change. `known` are those that it had before.
 * They go as later ones do, so not by a query that fails.
 */
export type WatchName = (
  name: string,
  onChange: (addresses: readonly string[]) => void,
  known?: readonly string[],
) => () => void;

export type WatchDnsOptions = {
  readonly resolve: ResolveRecords;
  readonly after: After;
  /** The longest time between two queries, even if the TTL is longer. */
  readonly maxTtlSeconds: number;
  /**
   * Called after each query with the set as it is now. `failures` of it counts the failed ones in a
   * row.
   */
  onQueried(name: string, family: Family, outcome: QueryOutcome, set: RecordSet): void;
};

const FAMILIES: readonly Family[] = [4, 6];

/** Follows names in DNS. IPv4 and IPv6 are queried separately, each at its own TTL. */
export function watchDns(options: WatchDnsOptions): WatchName {
  return (name, onChange, known = []) => watchAddresses(name, options, onChange, known);
}

function watchAddresses(
  name: string,
  options: WatchDnsOptions,
  onChange: (addresses: readonly string[]) => void,
  known: readonly string[],
): () => void {
  const sets = new Map<Family, RecordSet>();
  let published: string | undefined;
  const publish = () => {
    if (FAMILIES.some(family => sets.get(family)?.answered !== true)) return;
    const addresses = FAMILIES.flatMap(family => sets.get(family)?.addresses ?? []);
    if (published === addresses.join()) return;
    published = addresses.join();
    onChange(addresses);
  };
  const ends = FAMILIES.map(family => {
    const before = { ...UNASKED, addresses: known.filter(address => isIP(address) === family) };
    return watchRecords(name, family, options, before, set => {
      sets.set(family, set);
      publish();
    });
  });
  return () => {
    for (const end of ends) end();
  };
}

function watchRecords(
  name: string,
  family: Family,
  { resolve, after, maxTtlSeconds, onQueried }: WatchDnsOptions,
  before: RecordSet,
  onSet: (set: RecordSet) => void,
): () => void {
  const ended = new AbortController();
  let cancelTimer = () => {};
  let set = before;
  const take = (outcome: QueryOutcome) => {
    if (ended.signal.aborted) return;
    set = nextRecordSet(set, outcome);
    onQueried(name, family, outcome, set);
    onSet(set);
    cancelTimer = after(nextQueryMs(set, outcome, maxTtlSeconds), ask);
  };
  const ask = () => void resolve(name, family, ended.signal).then(take);
  ask();
  return () => {
    ended.abort();
    cancelTimer();
  };
}
