import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Eventually } from '#process/eventually.ts';
import { groupDigest } from './group-digest.ts';
import { NewestVersions } from './newest-versions.ts';
import {
  type RecordGroup,
  type RecordStore,
  type StoredRecord,
  StoreUnavailable,
  wholeAdd,
  wholeMs,
} from './record-store.ts';
import { recordVersions } from './record-version.ts';
import { SqliteCheckpoints } from './sqlite-checkpoints.ts';
import type { Statements } from './sqlite-entries.ts';
import { SqliteQueue } from './sqlite-queue.ts';
import { openDatabase } from './sqlite-schema.ts';

export type SqliteRecordStoreOptions = {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly uptime: () => number;
  /** How long another process may hold the file before a call is refused. Default: 500. */
  readonly timeoutMs?: number;
  /**
   * The limit of records, leases and counters together. Beyond it, those that end first are
   * removed. Default: 1,000,000.
   */
  readonly maxRecords?: number;
  /** Is called when the limit is reached, at most once a minute. */
  readonly onFull?: () => void;
};

const FULL_AGAIN_MS = 60_000;

/**
 * One write removes at most so many, so that no write takes long. It is more than a write adds, so
 * that the file shrinks to what it must hold.
 */
const DROPPED_AT_ONCE = 4;
const NOTHING = new Uint8Array();

/**
 * Opens the embedded store. It is one file, which several processes may share. It survives a
 * restart and `kill -9`. A power cut may undo the last second. Rejects with an error that names the
 * file.
 */
export async function openSqliteRecordStore(
  file: string,
  {
    maxRecords = 1_000_000,
    now,
    onFull = () => {},
    timeoutMs = 500,
    uptime,
  }: SqliteRecordStoreOptions,
): Promise<RecordStore> {
  const queue = new SqliteQueue({ timeoutMs, uptime });
  const { database, statements } = await queue
    .write(() => openDatabase(file))
    .catch(error => explain(file, error));
  const checkpoints = new SqliteCheckpoints(file);
  return new SqliteRecordStore({
    database,
    statements,
    checkpoints,
    queue,
    maxRecords,
    now,
    onFull,
  });
}

type SqliteParts = {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly checkpoints: SqliteCheckpoints;
  readonly queue: SqliteQueue;
  readonly maxRecords: number;
  readonly now: () => number;
  readonly onFull: () => void;
};

/** The keys of entries begin with their type. */
class SqliteRecordStore implements RecordStore {
  readonly #database: DatabaseSync;
  readonly #checkpoints: SqliteCheckpoints;
  readonly #queue: SqliteQueue;
  readonly #maxRecords: number;
  readonly #now: () => number;
  readonly #statements: Statements;
  readonly #nextVersion = recordVersions();
  readonly #newest: NewestVersions;
  readonly #onFull: () => void;
  #fullAt = Number.NEGATIVE_INFINITY;

  constructor({ checkpoints, database, maxRecords, now, onFull, queue, statements }: SqliteParts) {
    this.#database = database;
    this.#statements = statements;
    this.#checkpoints = checkpoints;
    this.#queue = queue;
    this.#maxRecords = maxRecords;
    this.#onFull = onFull;
    this.#now = () => Math.trunc(now());
    this.#newest = new NewestVersions(() => Number(rowOf(statements.fileVersion.get())[0]));
  }

  read(key: string, known?: string): Eventually<StoredRecord | undefined> {
    return this.#queue.read(() => {
      const now = this.#now();
      if (known !== undefined && this.#isNewest(key, known, now))
        return { version: known, value: NOTHING };
      const row = this.#statements.read.get(`r${key}`, now);
      return row && { version: String(row.version), value: bytesOf(row.value) };
    });
  }

  async create(
    key: string,
    value: Uint8Array,
    ttlMs: number,
    groups: readonly RecordGroup[] = [],
  ): Promise<boolean> {
    const ttl = wholeMs(ttlMs);
    return this.#adding(`r${key}`, (name, now) => {
      this.#newest.drop(key);
      this.#statements.forget.run(name, now);
      const made = this.#statements.insert.run(name, value, this.#nextVersion(), now + ttl);
      if (made.changes !== 1) return false;
      for (const group of groups) this.#join(made.lastInsertRowid, group);
      return true;
    });
  }

  async replace(
    key: string,
    version: string,
    value: Uint8Array,
    ttlMs: number,
    groups: readonly RecordGroup[] = [],
  ): Promise<boolean> {
    const ttl = wholeMs(ttlMs);
    return this.#adding(`r${key}`, (name, now) => {
      this.#newest.drop(key);
      const next = this.#nextVersion();
      const [row] = this.#statements.replace.all(value, next, now + ttl, name, version, now);
      if (row === undefined) return false;
      for (const group of groups) this.#join(Number(row.id), group);
      return true;
    });
  }

  async members(name: string, most: number): Promise<readonly string[]> {
    return this.#queue.read(() =>
      this.#statements.members
        .all(groupDigest(name), this.#now(), Math.max(1, Math.trunc(most)))
        .map(({ key }) => String(key).slice(1)),
    );
  }

  async take(key: string): Promise<Uint8Array | undefined> {
    return this.#write(() => {
      this.#newest.drop(key);
      // `all`, because `get` would not see that the removal cannot be committed
      const [row] = this.#statements.remove.all(`r${key}`);
      return row !== undefined && Number(row.ends) > this.#now() ? bytesOf(row.value) : undefined;
    });
  }

  async remove(key: string): Promise<boolean> {
    return (await this.take(key)) !== undefined;
  }

  async removeGroup(name: string): Promise<number> {
    return this.#write(() => {
      const rows = this.#statements.removeGroup.all(groupDigest(name));
      this.#dropped(rows);
      return rows.filter(({ ends }) => Number(ends) > this.#now()).length;
    });
  }

  async acquire(key: string, holder: string, ttlMs: number): Promise<boolean> {
    const ttl = wholeMs(ttlMs);
    return this.#adding(`l${key}`, (name, now) => {
      const { changes } = this.#statements.acquire.run({ key: name, holder, ends: now + ttl, now });
      return changes === 1;
    });
  }

  async release(key: string, holder: string): Promise<void> {
    await this.#write(() => this.#statements.release.run(`l${key}`, holder));
  }

  async count(key: string, add: number, windowMs: number): Promise<number> {
    const [more, window] = [wholeAdd(add), wholeMs(windowMs)];
    if (more === 0) return this.#queue.read(() => this.#held(`c${key}`, window).value);
    return this.#adding(`c${key}`, (name, now) => {
      const [row] = this.#statements.count.all({ key: name, add: more, ends: now + window, now });
      return Number(row?.value);
    });
  }

  async windowLeft(key: string, windowMs: number): Promise<number> {
    return this.#queue.read(() => this.#held(`c${key}`, wholeMs(windowMs)).left);
  }

  unreached(): undefined {}

  async memory(): Promise<undefined> {}

  async close(): Promise<void> {
    this.#queue.close();
    if (this.#database.isOpen) this.#database.close();
    await this.#checkpoints.stop();
  }

  /** Returns whether this version is known to be the newest. Such a record is not looked up. */
  #isNewest(key: string, version: string, now: number): boolean {
    if (this.#newest.has(key, version, now)) return true;
    const [found, ends] = rowOf(this.#statements.version.get(`r${key}`, now));
    if (found !== version) return false;
    this.#newest.add(key, version, Number(ends));
    return true;
  }

  #write<T>(task: () => T): Promise<T> {
    return this.#queue.write(() => {
      this.#newest.writing();
      return task();
    });
  }

  #held(name: string, windowMs: number): { readonly value: number; readonly left: number } {
    const now = this.#now();
    const row = this.#statements.held.get(name, now, now + windowMs);
    return { value: Number(row?.value ?? 0), left: Number(row?.ends ?? now) - now };
  }

  /** Runs a write that may add an entry, and removes some expired ones in the same transaction. */
  #adding<T>(name: string, task: (name: string, now: number) => T): Promise<T> {
    return this.#write(() => {
      const { begin, commit, rollback } = this.#statements;
      begin.run();
      try {
        const now = this.#now();
        const result = task(name, now);
        this.#dropSome(name, now);
        commit.run();
        return result;
      } catch (error) {
        if (this.#database.isTransaction) rollback.run();
        throw error;
      }
    });
  }

  #join(entry: number | bigint, { most, name }: RecordGroup): void {
    const digest = groupDigest(name);
    this.#statements.join.run(digest, entry);
    const over = this.#sizeOf(digest) - Math.max(1, most);
    if (over > 0)
      this.#dropped(this.#statements.leaveOldest.all(digest, Math.min(over, DROPPED_AT_ONCE)));
  }

  #dropSome(name: string, now: number): void {
    this.#dropped(this.#statements.dropEnded.all(now, DROPPED_AT_ONCE));
    const over = this.#sizeOf('') - this.#maxRecords;
    if (over <= 0) return;
    this.#dropped(this.#statements.dropFirstEnding.all(name, Math.min(over, DROPPED_AT_ONCE)));
    if (Math.abs(now - this.#fullAt) < FULL_AGAIN_MS) return;
    this.#fullAt = now;
    this.#onFull();
  }

  #dropped(rows: readonly Record<string, SQLOutputValue>[]): void {
    for (const { key } of rows) this.#newest.drop(String(key).slice(1));
  }

  #sizeOf(name: string): number {
    return Number(this.#statements.size.get(name)?.size ?? 0);
  }
}

/** Casts a row of a statement whose rows are arrays, which the types do not know. */
function rowOf(row: unknown): readonly unknown[] {
  return Array.isArray(row) ? row : [];
}

function bytesOf(value: SQLOutputValue | undefined): Uint8Array {
  return value instanceof Uint8Array ? value : NOTHING;
}

function explain(file: string, error: unknown): never {
  if (!(error instanceof StoreUnavailable)) throw error;
  throw new StoreUnavailable(`${file} cannot be used: ${error.message}`);
}
