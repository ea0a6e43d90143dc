import { BoundedCache, type CacheBounds } from '#process/bounded-cache.ts';

/**
 * A version that was the newest of its record at the last look, and when the record ends (ms since
 * the epoch).
 */
type Seen = { readonly version: string; readonly ends: number };

const BOUNDS: CacheBounds = { entries: 20_000, weight: 20_000 };

/**
 * Versions of records that are known to be the newest. A version is known from when it was seen
 * until this connection writes the record. A write to the file by another connection makes all of
 * them uncertain. It is asked once in a turn of the event loop whether there was such a write. The
 * requests that are answered in a turn arrived before it, so they see whatever ended before they
 * arrived.
 */
export class NewestVersions {
  readonly #fileVersion: () => number;
  #seen = new BoundedCache<Seen>(BOUNDS);
  #known = Number.NaN;
  #isFresh = false;

  /**
   * `fileVersion` returns another number when another connection has written. See
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

  /** Adds what a read that came after `has` has found. */
  add(key: string, version: string, ends: number): void {
    this.#seen.set(key, { version, ends });
  }

  /**
   * Forgets everything before this connection writes. What it saw of other connections may be too
   * old.
   */
  writing(): void {
    this.#isFresh = false;
  }

  /** Forgets a record that this connection has written or removed. */
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
