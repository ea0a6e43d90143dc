import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { makeFolder } from '#files/make-folder.ts';
import { StoreUnavailable } from './store-unavailable.ts';
import type { User, UserStore } from './users.ts';

const TABLE = `CREATE TABLE IF NOT EXISTS users (
  username TEXT PRIMARY KEY,
  fullname TEXT NOT NULL,
  uuid TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL
) STRICT`;
const FIND = 'SELECT fullname, uuid, password_hash FROM users WHERE username = ?';
const INSERT =
  'INSERT INTO users (username, fullname, uuid, password_hash) VALUES (?, ?, ?, ?) ON CONFLICT (username) DO NOTHING';

/** Two seconds in all. */
const BUSY_ATTEMPTS = 200;
const BUSY_PAUSE_MS = 10;
/**
 * The primary result code of «another connection holds the lock»,
 * https://sqlite.org/rescode.html#busy
 */
const SQLITE_BUSY = 5;

type OpenDatabase = {
  readonly database: DatabaseSync;
  readonly find: StatementSync;
  readonly insert: StatementSync;
};

/**
 * Opens the users in one SQLite file that all instances of a machine share. A committed user
 * survives a power cut. `createTable` makes the file and its folder, readable by their owner alone.
 * Before it succeeds no user is found or stored.
 */
export function sqliteUserStore(file: string): UserStore {
  let open: OpenDatabase | undefined;

  const use = <T>(task: (open: OpenDatabase) => T): Promise<T> =>
    whenNotBusy(file, () => {
      if (open === undefined) throw new Error('the table is not there yet');
      return task(open);
    });

  return {
    createTable: () =>
      whenNotBusy(file, () => {
        open ??= openDatabase(file);
      }),
    find: username => use(({ find }) => toUser(username, find.get(username))),
    insert: ({ username, fullname, uuid, passwordHash }) =>
      use(({ insert }) => insert.run(username, fullname, uuid, passwordHash).changes === 1),
    close: async () => {
      open?.database.close();
      open = undefined;
    },
  };
}

function openDatabase(file: string): OpenDatabase {
  makeFolder(dirname(file));
  closeSync(openSync(file, 'a', 0o600));
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    database.exec(TABLE);
    return { database, find: database.prepare(FIND), insert: database.prepare(INSERT) };
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Waits between attempts instead of inside SQLite (its busy timeout is 0). SQLite would delay every
 * other request meanwhile, and does not wait at all where a file is switched to WAL.
 */
async function whenNotBusy<T>(file: string, task: () => T): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return task();
    } catch (error) {
      if (!isBusy(error) || attempt === BUSY_ATTEMPTS) {
        throw new StoreUnavailable(`SQLite file ${file} cannot be used`, { cause: error });
      }
    }
    await pause(BUSY_PAUSE_MS);
  }
}

function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return false;
  return (error.errcode & 0xff) === SQLITE_BUSY; // the upper bits are the extended code
}

function toUser(username: string, row: ReturnType<StatementSync['get']>): User | undefined {
  if (row === undefined) return undefined;
  const { fullname, uuid, password_hash } = row;
  return {
    username,
    fullname: String(fullname),
    uuid: String(uuid),
    passwordHash: String(password_hash),
  };
}
