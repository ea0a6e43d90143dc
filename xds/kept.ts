import { DEPENDENCIES, type Kept } from './make-before-break.ts';
import type { Resources, Snapshot } from './snapshot.ts';

/**
 * How long removed resources are kept after the routes without them were ACKed, in ms. A request
 * holds the route that it had when its headers came. It may wait 5 s for ext_authz, then for a rate
 * limit service, and then for an instance before another one is tried.
 */
export const KEPT_MS = 15_000;

/**
 * Beyond this number of resources the oldest changes are released early. What the last change
 * removed is always kept.
 */
export const MOST_KEPT = 1_000;

/** Adds what a switch from `from` to `target` removes, at the end. */
export function keepRemoved(
  kept: readonly Kept[],
  from: Snapshot | undefined,
  target: Snapshot,
): readonly Kept[] {
  const resources = from && removed(from, target);
  if (resources?.size === 0) return kept;
  return bounded([...kept, { resources }]);
}

function removed(from: Snapshot, target: Snapshot): Snapshot {
  const gone = new Map<string, Resources>();
  for (const typeUrl of DEPENDENCIES) {
    const newer = target.get(typeUrl);
    if (newer === from.get(typeUrl)) continue;
    const left = [...(from.get(typeUrl) ?? [])].filter(([name]) => !newer?.has(name));
    if (left.length > 0) gone.set(typeUrl, new Map(left));
  }
  return gone;
}

function bounded(kept: readonly Kept[]): readonly Kept[] {
  const [last, ...older] = kept.toReversed();
  let count = sizeOf(last);
  const within = older.filter(each => {
    count += sizeOf(each);
    return count <= MOST_KEPT;
  });
  return last === undefined ? [] : [...within.toReversed(), last];
}

function sizeOf(kept: Kept | undefined): number {
  return [...(kept?.resources?.values() ?? [])].reduce((sum, { size }) => sum + size, 0);
}
