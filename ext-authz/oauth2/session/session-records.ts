import type { RecordStore, StoredRecord } from '#ext-authz/store/record-store.ts';
import {
  newSecret,
  openRecord,
  type RandomBytes,
  type RecordSeal,
  sealRecord,
  sealsOfSecrets,
  storeName,
} from '#ext-authz/store/sealed-record.ts';
import { BoundedCache, type CacheBounds } from '#process/bounded-cache.ts';
import { type Eventually, whenThere } from '#process/eventually.ts';
import { parseStored, type Session, toStored } from './session.ts';
import { SessionList, type SessionListParts } from './session-list.ts';

/** A session as it was read. `replace` changes this version only. */
export type LoadedSession = {
  readonly id: string;
  /** The key of its record, which reveals nothing. */
  readonly key: string;
  readonly version: string;
  readonly session: Session;
  /** Bytes of its record. Providers decide how long tokens are. */
  readonly size: number;
};

/** How many sessions need not be decrypted again. The weight is the size of their records. */
const KNOWN: CacheBounds = { entries: 10_000, weight: 32 * 1_048_576 };

/** A session in use is listed as seen this often, in ms. */
const SEEN_EVERY_MS = 300_000;

/**
 * The sessions of one realm. Each read asks the store, so that a logout counts at once everywhere.
 * What is decrypted is remembered by key and version. All methods reject with StoreUnavailable.
 */
export class SessionRecords {
  readonly #store: RecordStore;
  readonly #seal: (id: string) => RecordSeal;
  /** Tells store keys apart, and reveals nothing of one. */
  readonly #keyName: string;
  readonly #randomBytes: RandomBytes;
  readonly #now: () => number;
  readonly #seen = new WeakMap<LoadedSession, number>();
  readonly list: SessionList;
  readonly #known = new BoundedCache<LoadedSession>(KNOWN);
  readonly #asked = new Map<LoadedSession, Promise<LoadedSession | undefined>>();

  constructor(parts: SessionListParts) {
    const { now, randomBytes, realm, store, storeKey } = parts;
    this.#store = store;
    this.list = new SessionList(parts);
    this.#now = now;
    this.#seal = sealsOfSecrets({ kind: 'session', realm });
    this.#keyName = storeName(storeKey, { kind: 'session', realm }, []).slice(0, 16);
    this.#randomBytes = randomBytes;
  }

  /** Returns the key of a session's record. */
  keyOf(id: string): string {
    return this.#seal(id).key;
  }

  /**
   * Reads a session. Throws StoreUnavailable, or rejects.
   * @returns undefined when there is none
   */
  read(id: string): Eventually<LoadedSession | undefined> {
    const seal = this.#seal(id);
    const known = this.#known.get(seal.key);
    const record = this.#store.read(seal.key, known?.version);
    return whenThere(record, found => this.#loaded(id, seal, known, found));
  }

  /**
   * Reads a session again. Returns the same object while it has not changed. All calls in one turn
   * of the event loop share one answer, as the requests of one page do. Throws StoreUnavailable, or
   * rejects.
   */
  reread(loaded: LoadedSession): Eventually<LoadedSession | undefined> {
    const asked = this.#asked.get(loaded);
    if (asked !== undefined) return asked;
    const { id, key, version } = loaded;
    this.#noteSeen(loaded);
    const now = whenThere(this.#store.read(key, version), found =>
      found?.version === version ? loaded : this.#loaded(id, this.#seal(id), undefined, found),
    );
    if (now instanceof Promise) this.#shareInTurn(loaded, now);
    return now;
  }

  #shareInTurn(loaded: LoadedSession, now: Promise<LoadedSession | undefined>): void {
    if (this.#asked.size === 0) queueMicrotask(() => this.#asked.clear());
    this.#asked.set(loaded, now);
  }

  #loaded(
    id: string,
    seal: RecordSeal,
    known: LoadedSession | undefined,
    record: StoredRecord | undefined,
  ): LoadedSession | undefined {
    if (record === undefined) {
      this.#known.delete(seal.key);
      return undefined;
    }
    if (known?.version === record.version) {
      this.#noteSeen(known);
      return known;
    }
    const stored = openRecord(seal, record.value);
    const session = isOfAnotherKey(stored, this.#keyName) ? undefined : parseStored(stored);
    if (session === undefined) return undefined;
    const size = record.value.length;
    const loaded = { id, key: seal.key, version: record.version, session, size };
    this.#known.set(seal.key, loaded, size);
    this.#seen.set(loaded, this.#now());
    return loaded;
  }

  /** No request waits for it. */
  #noteSeen(loaded: LoadedSession): void {
    const now = this.#now();
    if (now - (this.#seen.get(loaded) ?? now) < SEEN_EVERY_MS) return;
    this.#seen.set(loaded, now);
    this.list.note(loaded.key, loaded.session).catch(() => {});
  }

  /**
   * Creates a session and returns its id. One that the store may have made although it failed does
   * not stay.
   */
  async create(session: Session, now: number): Promise<string> {
    const id = newSecret(this.#randomBytes);
    const seal = this.#seal(id);
    const sealed = this.#sealed(seal, session);
    const ttlMs = session.ends - now;
    const groups = this.list.groupsOf(session);
    const making = this.#store.create(seal.key, sealed, ttlMs, groups);
    const made = await making.catch(async (error: unknown) => {
      await this.remove(seal.key).catch(() => {});
      throw error;
    });
    if (!made) throw new Error('a session id that was not new');
    await this.list.note(seal.key, session).catch(() => {});
    return id;
  }

  /**
   * Replaces a session.
   * @returns false when it is gone or was changed meanwhile
   */
  async replace(
    { id, key, version }: LoadedSession,
    session: Session,
    now: number,
  ): Promise<boolean> {
    const value = this.#sealed(this.#seal(id), session);
    const groups = this.list.groupsOf(session);
    const made = await this.#store.replace(key, version, value, session.ends - now, groups);
    if (made) this.list.note(key, session).catch(() => {});
    return made;
  }

  #sealed(seal: RecordSeal, session: Session): Uint8Array {
    return sealRecord(seal, { ...toStored(session), keyName: this.#keyName }, this.#randomBytes);
  }

  /** Removes a session by its record's key. */
  async remove(key: string): Promise<boolean> {
    this.#known.delete(key);
    const [removed] = await Promise.all([
      this.#store.remove(key),
      this.list.forget(key).catch(() => {}),
    ]);
    return removed;
  }

  /** Removes all sessions of a user, by the claim `sub`. Returns how many there were. */
  async removeUser(user: string): Promise<number> {
    return this.#store.removeGroup(this.list.groupOf(user).name);
  }
}

/**
 * A new store key ends all sessions, since under it none of them is listed. Earlier versions did
 * not write the name of the key.
 */
function isOfAnotherKey(stored: unknown, keyName: string): boolean {
  const isKnown = typeof stored === 'object' && stored !== null && 'keyName' in stored;
  return isKnown && stored.keyName !== keyName;
}
