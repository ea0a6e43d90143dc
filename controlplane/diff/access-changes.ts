import { compareText } from '#resources/words/order.ts';
import type { AccessWorld, Decision } from './access-world.ts';
import type { Access, AccessChange, AccessEffect } from './difference.ts';
import { isInside, meet, type Region, samplesOf } from './region.ts';

/** A region whose requests are decided otherwise than before. */
export type ChangedRegion = Region & Pick<AccessChange, 'effect' | 'before' | 'after'>;

/** Up to this many pairs of regions are compared. Of more, each region is compared by itself. */
const MOST_PAIRS = 200_000;

/**
 * Returns the regions that are decided otherwise, the widest of those that change in the same way.
 * Each is tried by requests that stand for it.
 */
export function changedRegions(before: AccessWorld, after: AccessWorld): readonly ChangedRegion[] {
  const regions = distinct([...before.regions, ...after.regions]);
  const pairs = regions.length ** 2 / 2 > MOST_PAIRS ? [] : meetings(regions);
  const changed = distinct([...regions, ...pairs]).flatMap(region =>
    compare(region, before, after),
  );
  return withoutInner(changed);
}

/** Returns how a request is decided otherwise, one for each effect. */
function compare(
  region: Region,
  before: AccessWorld,
  after: AccessWorld,
): readonly ChangedRegion[] {
  const found = new Map<string, ChangedRegion>();
  for (const { host, path } of samplesOf(region)) {
    const [was, is] = [before.decide(host, path), after.decide(host, path)];
    const effect = effectOf(was, is);
    if (effect === undefined) continue;
    const changed = { ...region, effect, before: toAccess(was), after: toAccess(is) };
    found.set(keyOf(changed), changed);
  }
  return [...found.values()];
}

/** @returns undefined when the same is decided */
export function effectOf(before: Decision, after: Decision): AccessEffect | undefined {
  if (before.decision === 'closed' || after.decision === 'closed') {
    if (before.decision === after.decision) return undefined;
    if (after.decision === 'closed') return 'closed';
    return after.decision === 'open' ? 'opened' : 'gained';
  }
  const lost = [...before.sure].some(name => !after.sure.has(name));
  const gained = [...after.sure].some(name => !before.sure.has(name));
  if (lost) return gained ? 'replaced' : 'lost';
  if (before.filters.length > 0 && after.filters.length === 0) return 'lost';
  if (gained || (before.filters.length === 0 && after.filters.length > 0)) return 'gained';
  return before.filters.join() === after.filters.join() ? undefined : 'changed';
}

export function toAccess({ sure: _, ...access }: Decision): Access {
  return access;
}

const ORDER: readonly AccessEffect[] = [
  'lost',
  'opened',
  'replaced',
  'changed',
  'closed',
  'gained',
];

/** Compares by how much an operator must hear of it. */
export function compareEffects(a: ChangedRegion, b: ChangedRegion): number {
  return (
    ORDER.indexOf(a.effect) - ORDER.indexOf(b.effect) ||
    compareText(a.host, b.host) ||
    compareText(a.path, b.path)
  );
}

function meetings(regions: readonly Region[]): readonly Region[] {
  return regions.flatMap((a, index) => regions.slice(index + 1).flatMap(b => meet(a, b) ?? []));
}

function withoutInner(changed: readonly ChangedRegion[]): readonly ChangedRegion[] {
  const alike = Map.groupBy(changed, keyOf);
  return [...alike.values()].flatMap(group =>
    group.filter(inner => !group.some(outer => outer !== inner && isInside(inner, outer))),
  );
}

function keyOf({ effect, before, after }: ChangedRegion): string {
  return JSON.stringify([effect, before, after]);
}

function distinct(regions: readonly Region[]): readonly Region[] {
  return [
    ...new Map(regions.map(({ host, path }) => [`${host} ${path}`, { host, path }])).values(),
  ];
}
