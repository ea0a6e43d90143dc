import type { Snapshot } from './snapshot.ts';

type Watcher = (snapshot: Snapshot) => void;

/**
 * Holds the newest snapshot of each node group. Before the first `set` of a group its proxies are
 * sent nothing.
 */
export class SnapshotCache {
  readonly #snapshots = new Map<string, Snapshot>();
  readonly #watchers = new Map<string, Set<Watcher>>();
  readonly #onError: (error: unknown) => void;

  /** `onError` receives what a watcher throws. By default it becomes a Node warning. */
  constructor(onError: (error: unknown) => void = warn) {
    this.#onError = onError;
  }

  /**
   * Replaces the group's snapshot and tells its watchers. The very same one has proxies try again
   * what they rejected of it. When one watcher throws, the others are still told. A snapshot must
   * not be changed after it was set.
   */
  set(group: string, snapshot: Snapshot): void {
    this.#snapshots.set(group, snapshot);
    for (const watcher of [...(this.#watchers.get(group) ?? [])]) this.#tell(watcher, snapshot);
  }

  get(group: string): Snapshot | undefined {
    return this.#snapshots.get(group);
  }

  /**
   * Forgets the group's snapshot. A proxy that connects is then sent nothing until the next `set`.
   */
  delete(group: string): void {
    this.#snapshots.delete(group);
  }

  /** Calls `watcher` for every later `set` of the group, until the returned function is called. */
  watch(group: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(group) ?? new Set();
    this.#watchers.set(group, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(group) === watchers)
        this.#watchers.delete(group);
    };
  }

  #tell(watcher: Watcher, snapshot: Snapshot): void {
    try {
      watcher(snapshot);
    } catch (error) {
      this.#onError(error);
    }
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
