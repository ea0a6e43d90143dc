import type { Snapshot } from './snapshot.ts';

type Watcher = (snapshot: Snapshot) => void;

/** The newest snapshot of each node group. Before the first `set` of a group its proxies are sent nothing at all. */
export class SnapshotCache {
  readonly #snapshots = new Map<string, Snapshot>();
  readonly #watchers = new Map<string, Set<Watcher>>();

  /** Replaces the group's snapshot and tells its watchers. A snapshot must not be changed after it was set. */
  set(group: string, snapshot: Snapshot): void {
    this.#snapshots.set(group, snapshot);
    for (const watcher of [...(this.#watchers.get(group) ?? [])]) watcher(snapshot);
  }

  get(group: string): Snapshot | undefined {
    return this.#snapshots.get(group);
  }

  /** Forgets the group's snapshot: who comes next is sent nothing until the next `set`. */
  delete(group: string): void {
    this.#snapshots.delete(group);
  }

  /** Calls `watcher` for every later `set` of the group, until the returned function is called. */
  watch(group: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(group) ?? new Set();
    this.#watchers.set(group, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(group) === watchers) this.#watchers.delete(group);
    };
  }
}
