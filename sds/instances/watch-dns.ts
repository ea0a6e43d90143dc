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
  /** Called after each query. */
  onQueried(query: Queried): void;
};

/** A query that has ended, and the records of the name and family before it and now. */
export type Queried = {
  readonly name: string;
  readonly family: Family;
  readonly outcome: QueryOutcome;
  readonly before: RecordSet;
  readonly set: RecordSet;
  /** The records of the name's other family. */
  readonly other: RecordSet;
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
    const first = { ...UNASKED, addresses: known.filter(address => isIP(address) === family) };
    return watchRecords(name, family, options, first, (outcome, before, set) => {
      const other = sets.get(family === 4 ? 6 : 4) ?? UNASKED;
      options.onQueried({ name, family, outcome, before, set, other });
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
  { resolve, after, maxTtlSeconds }: WatchDnsOptions,
  first: RecordSet,
  onSet: (outcome: QueryOutcome, before: RecordSet, set: RecordSet) => void,
): () => void {
  const ended = new AbortController();
  let cancelTimer = () => {};
  let set = first;
  const take = (outcome: QueryOutcome) => {
    if (ended.signal.aborted) return;
    const before = set;
    set = nextRecordSet(before, outcome);
    onSet(outcome, before, set);
    cancelTimer = after(nextQueryMs(set, outcome, maxTtlSeconds), ask);
  };
  const ask = () => void resolve(name, family, ended.signal).then(take);
  ask();
  return () => {
    ended.abort();
    cancelTimer();
  };
}
