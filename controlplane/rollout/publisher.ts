import { RATELIMIT_SERVICE, SERVICE_GROUPS } from '#controlplane/compile/node-groups.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { NO_RESOURCES, type Snapshot } from '#xds/snapshot.ts';
import type { SnapshotCache } from '#xds/snapshot-cache.ts';
import type { ControllerParts } from './controller.ts';
import { isKept, widener } from './widen.ts';

/**
 * An Envoy ACKs routes before its workers have them, and requests are on their way. Services keep
 * what was before for this time, in ms.
 */
const LAST_REQUESTS_MS = 1_000;

/**
 * Puts each group's newest snapshot into the cache. A service also keeps what proxies may still
 * use. Each removal has a time of its own. Otherwise frequent changes would keep limits in force
 * that are long gone.
 */
export function publisher(
  cache: Pick<SnapshotCache, 'get' | 'set'>,
  after: ControllerParts['after'],
): Pick<ControllerParts, 'publish' | 'changedOver'> {
  const published = new Map<string, Snapshot>();
  const widen = widener();
  let change = 0;
  /** Maps the name of a kept resource to the change that removed it. */
  let removedBy: ReadonlyMap<string, number> = new Map();
  const publishToService = (group: string, snapshot: Snapshot) => {
    change += 1;
    published.set(group, snapshot);
    const wide = widen(cache.get(group), snapshot);
    if (group === RATELIMIT_SERVICE)
      removedBy = new Map(keptNames(wide).map(name => [name, removedBy.get(name) ?? change]));
    cache.set(group, wide);
  };
  const narrow = (over: number) => {
    for (const [group, snapshot] of published) {
      const wide = cache.get(group) ?? snapshot;
      const going = keptNames(wide).filter(name => (removedBy.get(name) ?? 0) <= over);
      if (going.length > 0) cache.set(group, without(going, wide, snapshot));
    }
  };
  return {
    publish: (group, snapshot) => {
      if (SERVICE_GROUPS.includes(group)) publishToService(group, snapshot);
      else cache.set(group, snapshot);
    },
    changedOver: () => {
      const over = change;
      after(LAST_REQUESTS_MS, () => narrow(over));
    },
  };
}

function keptNames(snapshot: Snapshot): readonly string[] {
  return [...(snapshot.get(RATE_LIMIT) ?? NO_RESOURCES).keys()].filter(isKept);
}

/** When nothing is kept any more, the published snapshot itself is served. */
function without(names: readonly string[], wide: Snapshot, published: Snapshot): Snapshot {
  if (names.length === keptNames(wide).length) return published;
  const limits = [...(wide.get(RATE_LIMIT) ?? NO_RESOURCES)].filter(
    ([name]) => !names.includes(name),
  );
  return new Map([...wide, [RATE_LIMIT, new Map(limits)]]);
}
