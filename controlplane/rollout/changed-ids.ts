import { remembered } from '#xds/remembered.ts';

/** What of a resource tells whether it has changed. */
type Hashed = { readonly hash: string };

type Reading = ReadonlyMap<string, Hashed>;

/** Ids of resources that came, changed in meaning, or went. */
export type ChangedIds = {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
};

/**
 * Compares two readings by id. The very same object costs next to nothing, and so do the same two
 * readings once more.
 */
export const changedIds: (before: Reading, now: Reading) => ChangedIds = remembered(
  (before: Reading, now: Reading) => {
    const added: string[] = [];
    const changed: string[] = [];
    for (const [id, resource] of now) {
      const earlier = before.get(id);
      if (earlier === undefined) added.push(id);
      else if (earlier !== resource && earlier.hash !== resource.hash) changed.push(id);
    }
    const removed: string[] = [];
    for (const id of before.keys()) if (!now.has(id)) removed.push(id);
    return { added, changed, removed };
  },
);
