import { BoundedCache, type CacheBounds } from '#process/bounded-cache.ts';

/**
 * A version that was the newest of its record when somebody looked, and when the record ends (ms
 * since the epoch).
 */
type Seen = { readonly version: string; readonly ends: number };

const BOUNDS: CacheBounds = { entries: 20_000, weight: 20_000 };

/**
 * Versions of records that are known to be the newest. One is known from when it was seen until
 * this connection writes the record, or somebody else writes to the file, which makes all of them
 * uncertain. Whether somebody else wrote is asked once in a turn of the event loop: the requests
 * that are answered in a turn came before it, so that they see whatever ended before they came.
 */
export class NewestVersions {
  readonly #fileVersion: () => number;
  #seen = new BoundedCache<Seen>(BOUNDS);
  #known = Number.NaN;
  #isFresh = false;

  /**
   * `fileVersion` is another number when another connection has written. Source:
   * https://sqlite.org/pragma.html#pragma_data_version
   */
  constructor(fileVersion: () => number) {
    this.#fileVersion = fileVersion;
  }

  has(key: string, version: string, now: number): boolean {
    this.#look();
    const seen = this.#seen.get(key);
    return seen !== undefined && seen.version === version && seen.ends > now;
  }

  /** Tells what a reading that came after `has` has found. */
  add(key: string, version: string, ends: number): void {
    this.#seen.set(key, { version, ends });
  }

  /**
   * This connection is about to write: what it saw of others before may be too old to go on with.
   */
  writing(): void {
    this.#isFresh = false;
  }

  /** This connection has written the record, or has removed it. */
  drop(key: string): void {
    this.#seen.delete(key);
  }

  #look(): void {
    if (this.#isFresh) return;
    const version = this.#fileVersion();
    if (version !== this.#known) this.#seen = new BoundedCache(BOUNDS);
    this.#known = version;
    this.#isFresh = true;
    queueMicrotask(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#isFresh = false;
  };
}
