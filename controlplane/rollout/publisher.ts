import { EXT_AUTHZ, RATELIMIT_SERVICE, SERVICE_GROUPS } from '#controlplane/compile/node-groups.ts';
import type { Snapshot } from '#xds/snapshot.ts';
import type { SnapshotCache } from '#xds/snapshot-cache.ts';
import type { ControllerParts } from './controller.ts';
import { withEarlierRules } from './earlier-rules.ts';
import { widener } from './widen.ts';

/**
 * An Envoy ACKs routes before its workers have them, and requests are on their way. Services keep
 * what was before for this time, in ms.
 */
const LAST_REQUESTS_MS = 1_000;

/** A type URL and the name of a resource. */
type Key = string;

/**
 * Puts each group's newest snapshot into the cache. A service also keeps what proxies may still
 * use. Each removal has a time of its own. Otherwise frequent changes would keep limits in force
 * that are long gone.
 */
export function publisher(
  cache: Pick<SnapshotCache, 'get' | 'set'>,
  after: ControllerParts['after'],
): Pick<ControllerParts, 'publish' | 'again' | 'changedOver'> {
  const published = new Map<string, Snapshot>();
  const widenLimits = widener();
  let change = 0;
  /** By group: the change that removed each kept resource. */
  const removals = new Map<string, ReadonlyMap<Key, number>>();
  const wideOf = (group: string, snapshot: Snapshot) => {
    const before = cache.get(group);
    if (group === RATELIMIT_SERVICE) return widenLimits(before, snapshot);
    return group === EXT_AUTHZ ? withEarlierRules(before, snapshot, change) : snapshot;
  };
  const publishToService = (group: string, snapshot: Snapshot) => {
    change += 1;
    published.set(group, snapshot);
    const wide = wideOf(group, snapshot);
    const removedBy = removals.get(group);
    const kept = keptIn(wide, snapshot).map(key => [key, removedBy?.get(key) ?? change] as const);
    removals.set(group, new Map(kept));
    cache.set(group, wide);
  };
  const narrow = (over: number) => {
    for (const [group, snapshot] of published) {
      const removedBy = removals.get(group) ?? new Map<Key, number>();
      const staying = new Map([...removedBy].filter(([, by]) => by > over));
      if (staying.size === removedBy.size) continue;
      removals.set(group, staying);
      const wide = cache.get(group) ?? snapshot;
      cache.set(group, staying.size === 0 ? snapshot : without(wide, snapshot, staying));
    }
  };
  return {
    publish: (group, snapshot) => {
      if (SERVICE_GROUPS.includes(group)) publishToService(group, snapshot);
      else cache.set(group, snapshot);
    },
    again: group => {
      const snapshot = cache.get(group);
      if (snapshot !== undefined) cache.set(group, snapshot);
    },
    changedOver: () => {
      const over = change;
      after(LAST_REQUESTS_MS, () => narrow(over));
    },
  };
}

function keyOf(typeUrl: string, name: string): Key {
  return `${typeUrl} ${name}`;
}

/** Returns what is in `wide` beside what was published. */
function keptIn(wide: Snapshot, snapshot: Snapshot): readonly Key[] {
  if (wide === snapshot) return [];
  return [...wide].flatMap(([typeUrl, resources]) =>
    [...resources.keys()]
      .filter(name => snapshot.get(typeUrl)?.has(name) !== true)
      .map(name => keyOf(typeUrl, name)),
  );
}

/** Returns what was published, with what stays of `wide`. */
function without(wide: Snapshot, snapshot: Snapshot, staying: ReadonlyMap<Key, number>): Snapshot {
  return new Map(
    [...wide].map(([typeUrl, resources]) => {
      const own = snapshot.get(typeUrl);
      const left = [...resources].filter(
        ([name]) => own?.has(name) === true || staying.has(keyOf(typeUrl, name)),
      );
      return [typeUrl, new Map(left)];
    }),
  );
}
