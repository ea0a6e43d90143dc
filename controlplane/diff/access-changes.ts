import { compareText } from '#resources/words/order.ts';
import type { AccessWorld, RuleRegion } from './access-world.ts';
import type { Decision } from './decision.ts';
import type { Access, AccessChange, AccessEffect } from './difference.ts';
import { isInside, meet, type Region, samplesOf } from './region.ts';

/** A region whose requests are decided otherwise than before. */
export type ChangedRegion = Region &
  Pick<AccessChange, 'effect' | 'before' | 'after' | 'conditions'>;

/** Up to this many pairs of regions are compared. Of more, each region is compared by itself. */
const MOST_PAIRS = 100_000;

/**
 * Returns the regions that are decided otherwise, the widest of those that change in the same way.
 * Each is tried by requests that stand for it. `ids` are those of the resources that change.
 */
export function changedRegions(
  before: AccessWorld,
  after: AccessWorld,
  ids: ReadonlySet<string>,
): readonly ChangedRegion[] {
  const touched = distinct([
    ...touchedRegions(before, after, ids),
    ...touchedRegions(after, before, ids),
  ]);
  const all = distinct([...before.regions, ...after.regions]);
  const pairs = touched.length * all.length > MOST_PAIRS ? [] : meetings(touched, all);
  const changed = distinct([...touched, ...pairs]).flatMap(region =>
    compare(region, before, after),
  );
  return widest(changed);
}

/** Returns the regions of rules that the other side has not, or perhaps in another order. */
function touchedRegions(
  { regions }: AccessWorld,
  other: AccessWorld,
  ids: ReadonlySet<string>,
): readonly RuleRegion[] {
  const known = new Set(other.regions.map(ruleKey));
  return regions.filter(region => ids.has(region.policy) || !known.has(ruleKey(region)));
}

function ruleKey({ host, path, decision: { decision, filters } }: RuleRegion): string {
  return JSON.stringify([host, path, decision, filters]);
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
    return after.sure.size === 0 ? 'opened' : 'gained';
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

type Compared = Region & Pick<AccessChange, 'effect'>;

/** Compares by how much an operator must hear of it. */
export function compareEffects(a: Compared, b: Compared): number {
  return (
    ORDER.indexOf(a.effect) - ORDER.indexOf(b.effect) ||
    compareText(a.host, b.host) ||
    compareText(a.path, b.path)
  );
}

function meetings(touched: readonly Region[], all: readonly Region[]): readonly Region[] {
  return touched.flatMap(a => all.flatMap(b => meet(a, b) ?? []));
}

/**
 * Returns the widest of the regions that change in the same way. Shorter globs are wider, so an
 * inner region comes after the ones around it.
 */
export function widest<Changed extends Region>(changed: readonly Changed[]): readonly Changed[] {
  const alike = Map.groupBy(changed, keyOf);
  return [...alike.values()].flatMap(group => {
    const kept: Changed[] = [];
    for (const region of group.toSorted((a, b) => lengthOf(a) - lengthOf(b)))
      if (!kept.some(outer => isInside(region, outer))) kept.push(region);
    return kept;
  });
}

function lengthOf({ host, path }: Region): number {
  return host.length + path.length;
}

/** Returns all that is told of a region beside the region. */
function keyOf({ host: _, path: __, ...told }: Region): string {
  return JSON.stringify(told);
}

function distinct(regions: readonly Region[]): readonly Region[] {
  return [
    ...new Map(regions.map(({ host, path }) => [`${host} ${path}`, { host, path }])).values(),
  ];
}
