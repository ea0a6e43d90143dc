import { chmodSync, closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '#files/make-folder.ts';
import { prepareStatements, type Statements } from './sqlite-entries.ts';

const VERSION = 1;

/**
 * Records, leases and counters are entries. The first character of the key tells which. `id` grows,
 * so that the lowest of a group is its oldest. Triggers keep the sizes, because counting the rows
 * of a group costs more the larger it is. The size of all entries has the empty name.
 */
const SCHEMA = `
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  value ANY NOT NULL,
  version TEXT,
  ends INTEGER NOT NULL
) STRICT;
CREATE INDEX entries_by_end ON entries (ends);
CREATE TABLE members (
  name TEXT NOT NULL,
  entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
  PRIMARY KEY (name, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_by_entry ON members (entry);
CREATE TABLE sizes (name TEXT PRIMARY KEY, size INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO sizes VALUES ('', 0);
CREATE TRIGGER entry_made AFTER INSERT ON entries BEGIN
  UPDATE sizes SET size = size + 1 WHERE name = '';
END;
CREATE TRIGGER entry_gone AFTER DELETE ON entries BEGIN
  UPDATE sizes SET size = size - 1 WHERE name = '';
END;
CREATE TRIGGER member_made AFTER INSERT ON members BEGIN
  INSERT INTO sizes VALUES (new.name, 1) ON CONFLICT (name) DO UPDATE SET size = size + 1;
END;
CREATE TRIGGER member_gone AFTER DELETE ON members BEGIN
  UPDATE sizes SET size = size - 1 WHERE name = old.name;
  DELETE FROM sizes WHERE name = old.name AND size = 0;
END;
PRAGMA user_version = ${VERSION};
`;

/**
 * Holds all that is read of a record whose version is known. These are a few bytes, so that those
 * of many sessions fit in memory without their records.
 */
const VERSIONS = 'CREATE INDEX IF NOT EXISTS entries_by_version ON entries (key, version, ends)';

/**
 * The thread of sqlite-checkpoints.ts empties the log. Only when it cannot keep up do writes do it,
 * at 64 MB.
 */
const PRAGMAS = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA wal_autocheckpoint = 16000;
PRAGMA temp_store = MEMORY;
`;

/**
 * Opens the file of records. It makes the file with its folder when it is missing, readable by its
 * owner alone. In WAL mode with synchronous NORMAL
 * (https://sqlite.org/pragma.html#pragma_synchronous) a write survives the end of the process at
 * once, and a power cut a second later. Throws SQLite's error, at once also when another process
 * holds the file. For a file of another kind the error says what to do.
 */
export function openDatabase(file: string): {
  readonly database: DatabaseSync;
  readonly statements: Statements;
} {
  makeFolder(dirname(file));
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec(PRAGMAS);
    prepareTables(database, file);
    database.exec(VERSIONS);
    return { database, statements: prepareStatements(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}

function prepareTables(database: DatabaseSync, file: string): void {
  if (versionOf(database) === VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  const version = versionOf(database); // another process may have been faster
  if (version === 0) database.exec(SCHEMA);
  database.exec('COMMIT');
  if (version !== 0 && version !== VERSION)
    throw new Error(
      `${file} is of another version of the gateway: remove it, which costs logins and nothing else`,
    );
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version);
}
