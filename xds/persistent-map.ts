type Shards<V> = readonly ReadonlyMap<string, V>[];

/** A change copies the shards that it touches, and the list of all shards. */
const SHARDS = 256;

const EMPTY: ReadonlyMap<string, never> = new Map<string, never>();
const NO_ENTRIES: Shards<never> = Array.from({ length: SHARDS }, () => EMPTY);

/**
 * An immutable map: `with` returns another one. Both share what did not change. So it costs little
 * to change a few of thousands of entries, and to find them (`changedKeys`). The order of iteration
 * is the map's own.
 */
export class PersistentMap<V extends object> implements ReadonlyMap<string, V> {
  readonly size: number;
  /** A key's hash decides its shard. */
  readonly shards: Shards<V>;

  constructor(shards: Shards<V> = NO_ENTRIES) {
    this.shards = shards;
    this.size = shards.reduce((sum, shard) => sum + shard.size, 0);
  }

  /**
   * Returns the map with these values, set one after the other. Undefined removes the key. Returns
   * itself where nothing changes.
   */
  with(changes: Iterable<readonly [key: string, value: V | undefined]>): PersistentMap<V> {
    const copies = new Map<number, Map<string, V>>();
    for (const [key, value] of changes) {
      const index = shardOf(key);
      const copy = copies.get(index);
      const shard = copy ?? this.shards[index];
      if (shard?.get(key) === value) continue;
      const changed = copy ?? new Map(shard);
      copies.set(index, changed);
      if (value === undefined) changed.delete(key);
      else changed.set(key, value);
    }
    if (copies.size === 0) return this;
    return new PersistentMap(this.shards.map((shard, index) => copies.get(index) ?? shard));
  }

  get(key: string): V | undefined {
    return this.shards[shardOf(key)]?.get(key);
  }

  has(key: string): boolean {
    return this.shards[shardOf(key)]?.has(key) === true;
  }

  *entries(): Generator<[string, V], undefined> {
    for (const shard of this.shards) yield* shard;
  }

  *keys(): Generator<string, undefined> {
    for (const shard of this.shards) yield* shard.keys();
  }

  *values(): Generator<V, undefined> {
    for (const shard of this.shards) yield* shard.values();
  }

  [Symbol.iterator](): Generator<[string, V], undefined> {
    return this.entries();
  }

  forEach(callback: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this) callback(value, key, this);
  }
}

/**
 * Returns the keys that only one of the maps has, or that have another value in each. It costs
 * little when one PersistentMap was made from the other.
 */
export function changedKeys<V extends object>(
  before: ReadonlyMap<string, V>,
  after: ReadonlyMap<string, V>,
): readonly string[] {
  const older = shardsOf(before);
  return shardsOf(after).flatMap((shard, index) => differences(older[index] ?? EMPTY, shard));
}

function shardsOf<V extends object>(map: ReadonlyMap<string, V>): Shards<V> {
  return map instanceof PersistentMap ? map.shards : new PersistentMap<V>().with(map).shards;
}

function differences<V>(
  before: ReadonlyMap<string, V>,
  after: ReadonlyMap<string, V>,
): readonly string[] {
  if (before === after) return [];
  const gone = [...before.keys()].filter(key => !after.has(key));
  return [...gone, ...[...after.keys()].filter(key => before.get(key) !== after.get(key))];
}

/** FNV-1a, folded. */
function shardOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1)
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 16) ^ (hash >>> 8)) & (SHARDS - 1);
}
