import type { KeyObject } from 'node:crypto';
import type { RecordGroup, RecordStore } from '#ext-authz/store/record-store.ts';
import {
  openRecord,
  type RandomBytes,
  type RecordSeal,
  sealOfCredentials,
  sealRecord,
  storeName,
} from '#ext-authz/store/sealed-record.ts';
import type { Session } from './session.ts';

/** What operators are told of a session. Times are ms since the epoch. */
export type SessionEntry = {
  /** `sub` of the ID token. */
  readonly user: string;
  readonly name: string;
  readonly begun: number;
  readonly seen: number;
  readonly ends: number;
};

/**
 * Sessions of a realm, those that were seen last first. `more` says that not all were looked at.
 */
export type SessionEntries = { readonly entries: readonly SessionEntry[]; readonly more: boolean };

export type SessionListParts = {
  readonly store: RecordStore;
  readonly storeKey: KeyObject;
  readonly realm: string;
  readonly randomBytes: RandomBytes;
  readonly now: () => number;
};

/** Beyond these, those that were seen first are no longer listed. They go on all the same. */
const MOST_LISTED = 10_000;
/** Beyond these, the oldest sessions of a user end, so that all of a user can be ended. */
const MOST_OF_USER = 10_000;
const LONGEST_TEXT = 256;
/** Reads at the same time. */
const AT_ONCE = 100;

/**
 * Lists the sessions of one realm. An entry is sealed under the store key and has no token and no
 * session id. A thief of the store learns nothing from it, not even whose it is. All methods reject
 * with StoreUnavailable.
 */
export class SessionList {
  readonly #parts: SessionListParts;
  readonly #group: RecordGroup;

  constructor(parts: SessionListParts) {
    this.#parts = parts;
    const { realm, storeKey } = parts;
    const name = storeName(storeKey, { kind: 'listed sessions', realm }, []);
    this.#group = { name, most: MOST_LISTED };
  }

  /** Returns the groups that a session's own record is in. */
  groupsOf({ idToken }: Session): readonly RecordGroup[] {
    const user = userOf(idToken.claims);
    return user === undefined ? [] : [this.groupOf(user)];
  }

  /** Returns the group of a user's sessions. Its name does not show the user. */
  groupOf(user: string): RecordGroup {
    const { realm, storeKey } = this.#parts;
    const name = storeName(storeKey, { kind: 'sessions of a user', realm }, [user]);
    return { name, most: MOST_OF_USER };
  }

  /** Lists a session, or says that it was seen now. `key` is that of its record. */
  async note(key: string, session: Session): Promise<void> {
    const { now, randomBytes, store } = this.#parts;
    const seal = this.#seal(this.#entryKey(key));
    const old = await store.take(seal.key);
    const begun = (old && parseEntry(openRecord(seal, old))?.begun) ?? begunOf(session, now());
    const entry = { ...entryOf(session, begun, now()), key };
    const sealed = sealRecord(seal, entry, randomBytes);
    await store.create(seal.key, sealed, session.ends - now(), [this.#group]);
  }

  async forget(key: string): Promise<void> {
    await this.#parts.store.remove(this.#entryKey(key));
  }

  async list(most: number): Promise<SessionEntries> {
    const { entries, more } = await this.#live(Math.min(most, MOST_LISTED));
    return { entries: entries.map(({ key: _key, ...entry }) => entry), more };
  }

  async #live(most: number): Promise<{ readonly entries: readonly Entry[]; more: boolean }> {
    const keys = await this.#parts.store.members(this.#group.name, most + 1);
    const entries: Entry[] = [];
    for (let at = 0; at < Math.min(keys.length, most); at += AT_ONCE) {
      const some = keys.slice(at, Math.min(at + AT_ONCE, most));
      const found = await Promise.all(some.map(key => this.#read(key)));
      entries.push(...found.filter(entry => entry !== undefined));
    }
    return { entries, more: keys.length > most };
  }

  async #read(entryKey: string): Promise<Entry | undefined> {
    const { store } = this.#parts;
    const record = await store.read(entryKey);
    const entry = record && parseEntry(openRecord(this.#seal(entryKey), record.value));
    if (entry === undefined) return undefined;
    return (await store.read(entry.key)) === undefined ? undefined : entry;
  }

  #entryKey(sessionKey: string): string {
    const { realm, storeKey } = this.#parts;
    return storeName(storeKey, { kind: 'listed session', realm }, [sessionKey]);
  }

  #seal(key: string): RecordSeal {
    const { realm, storeKey } = this.#parts;
    const { encryptionKey } = sealOfCredentials(storeKey, { kind: 'listed session', realm }, [key]);
    return { key, encryptionKey };
  }
}

/** `key` is that of the session's record. */
type Entry = SessionEntry & { readonly key: string };

type Claims = Session['idToken']['claims'];

function userOf({ sub }: Claims): string | undefined {
  return typeof sub === 'string' && sub !== '' ? sub : undefined;
}

function entryOf({ ends, idToken }: Session, begun: number, seen: number): SessionEntry {
  const { email, name, preferred_username: called } = idToken.claims;
  const user = userOf(idToken.claims) ?? '';
  const [known = user] = [email, called, name].filter(text => typeof text === 'string');
  return { user, name: known.slice(0, LONGEST_TEXT), begun, seen, ends };
}

/** A session that is listed late began with its ID token. */
function begunOf({ idToken }: Session, now: number): number {
  const { iat } = idToken.claims;
  return typeof iat === 'number' ? Math.min(iat * 1000, now) : now;
}

/** Parses what `note` sealed. */
function parseEntry(value: unknown): Entry | undefined {
  return typeof value === 'object' && value !== null && 'key' in value
    ? (value as Entry)
    : undefined;
}
