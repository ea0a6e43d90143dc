import { compareText } from '#resources/words/order.ts';
import type { PathStart } from './path-start.ts';

/** A route, or what stands for it, and where the paths begin that it can match. */
export type Placed<Route> = { readonly at: PathStart; readonly route: Route };

/**
 * A part of a list of routes: all that can match a path which begins with `key`, in any letter
 * case, and with no longer key of another part. They are in the order of the list.
 */
export type Shard<Route> = { readonly key: string; readonly routes: readonly Placed<Route>[] };

/** The parts together have at most this many times the routes of the list. */
export const MOST_COPIES = 4;

/**
 * Cuts a list of routes into shards, most of them with at most `longest` routes. The first route
 * that matches in a request's shard is the first that matches in the list. A route for short paths
 * is in several shards. Where that would be too many copies, the shards are longer.
 * @returns undefined when the list need not or cannot be cut
 */
export function shardsOf<Route>(
  list: readonly Placed<Route>[],
  longest: number,
): readonly Shard<Route>[] | undefined {
  for (let size = longest; size < list.length; size *= 2) {
    const shards = cut('', list, size);
    const copies = shards.reduce((sum, { routes }) => sum + routes.length, 0);
    if (shards.length > 1 && copies <= MOST_COPIES * list.length) return shards;
  }
  return undefined;
}

function cut<Route>(
  key: string,
  list: readonly Placed<Route>[],
  longest: number,
): readonly Shard<Route>[] {
  if (list.length <= longest) return [{ key, routes: list }];
  const below = list.filter(({ at }) => at.start.length > key.length);
  const length = commonLength(below.map(({ at }) => at.start)) + 1;
  const groups = Map.groupBy(
    below.filter(({ at }) => at.start.length >= length),
    ({ at }) => at.start.slice(0, length),
  );
  const chosen = largest(groups, list.length - longest);
  const through = list.filter(({ at }) => at.start.length < length && !at.isWhole);
  const rest = list.filter(({ at }) => !chosen.has(at.start.slice(0, length)));
  return [
    { key, routes: rest },
    ...[...chosen].flatMap(start => {
      const above = through.filter(({ at }) => start.startsWith(at.start));
      const own = new Set([...above, ...(groups.get(start) ?? [])]);
      return cut(
        start,
        above.length === 0 ? [...own] : list.filter(each => own.has(each)),
        longest,
      );
    }),
  ];
}

/** Returns the keys of the largest groups that have this many routes together, or of all groups. */
function largest(
  groups: ReadonlyMap<string, readonly unknown[]>,
  wanted: number,
): ReadonlySet<string> {
  const sorted = [...groups].sort(
    ([a, of], [b, others]) => others.length - of.length || compareText(a, b),
  );
  const chosen = new Set<string>();
  let count = 0;
  for (const [key, { length }] of sorted) {
    if (count >= wanted) break;
    chosen.add(key);
    count += length;
  }
  return chosen;
}

function commonLength([first = '', ...others]: readonly string[]): number {
  let common = first;
  for (const other of others) while (!other.startsWith(common)) common = common.slice(0, -1);
  return common.length;
}
