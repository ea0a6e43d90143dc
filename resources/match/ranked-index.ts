import { type Glob, matchGlob } from './glob.ts';
import { type GlobIndex, indexGlobs, visitCandidates } from './glob-index.ts';

/** What is for some hosts and paths, and its place in the order in which all are tried. */
type Ranked = { readonly host: Glob; readonly path: Glob; readonly rank: number };

/** All of them, by host and then by path. */
export type RankedIndex<Item> = GlobIndex<GlobIndex<readonly Item[]>>;

/**
 * Indexes what is in its order. A lookup costs about the same however much there is, as long as
 * few share the literal beginning of host and path.
 */
export function indexRanked<Item extends Ranked>(items: readonly Item[]): RankedIndex<Item> {
  return indexGlobs(
    items,
    ({ host }) => host,
    sameHost =>
      indexGlobs(
        sameHost,
        ({ path }) => path,
        samePath => samePath,
      ),
  );
}

/** Returns the first in order whose host and path match. */
export function firstRanked<Item extends Ranked>(
  index: RankedIndex<Item>,
  host: string,
  path: string,
): Item | undefined {
  let first: Item | undefined;
  visitCandidates(index, host, paths => {
    visitCandidates(paths, path, items => {
      for (const item of items) {
        if (first !== undefined && first.rank < item.rank) return;
        if (matchGlob(item.host, host) && matchGlob(item.path, path)) {
          first = item;
          return;
        }
      }
    });
  });
  return first;
}
