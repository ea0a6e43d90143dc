import type { Snapshot } from '#xds/snapshot.ts';
import type { SnapshotCache } from '#xds/snapshot-cache.ts';
import { SERVICE_GROUPS } from './compile/node-groups.ts';
import type { ControllerParts } from './controller.ts';
import { widener } from './widen.ts';

/** An Envoy ACKs routes before its workers have them, and requests are on their way: services keep what was before for so long, in ms. */
const LAST_REQUESTS_MS = 1_000;

/** Puts each group's newest snapshot into the cache; that of a service together with what proxies may still go by. */
export function publisher(
  cache: SnapshotCache,
  after: ControllerParts['after'],
): Pick<ControllerParts, 'publish' | 'changedOver'> {
  const published = new Map<string, Snapshot>();
  const widen = widener();
  let cancelNarrowing = () => {};
  const narrow = () => {
    for (const group of SERVICE_GROUPS) {
      const snapshot = published.get(group);
      if (snapshot !== undefined && snapshot !== cache.get(group)) cache.set(group, snapshot);
    }
  };
  return {
    publish: (group, snapshot) => {
      cancelNarrowing();
      published.set(group, snapshot);
      cache.set(group, SERVICE_GROUPS.includes(group) ? widen(cache.get(group), snapshot) : snapshot);
    },
    changedOver: () => {
      cancelNarrowing = after(LAST_REQUESTS_MS, narrow);
    },
  };
}
