import type { DatabaseSync, StatementSync } from 'node:sqlite';

const SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  read: 'SELECT value, version FROM entries WHERE key = ? AND ends > ?',
  version:
    'SELECT version, ends FROM entries INDEXED BY entries_by_version WHERE key = ? AND ends > ?',
  fileVersion: 'PRAGMA data_version',
  forget: 'DELETE FROM entries WHERE key = ? AND ends <= ?',
  insert:
    'INSERT INTO entries (key, value, version, ends) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING',
  replace:
    'UPDATE entries SET value = ?, version = ?, ends = ? WHERE key = ? AND version = ? AND ends > ? RETURNING id',
  remove: 'DELETE FROM entries WHERE key = ? RETURNING value, ends',
  release: 'DELETE FROM entries WHERE key = ? AND value = ?',
  acquire: `INSERT INTO entries (key, value, ends) VALUES (:key, :holder, :ends)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends = excluded.ends WHERE ends <= :now`,
  // A counter that ends later than one that begins now was made before the clock was set back.
  count: `INSERT INTO entries (key, value, ends) VALUES (:key, :add, :ends)
    ON CONFLICT (key) DO UPDATE SET
      value = CASE WHEN ends <= :now OR ends > :ends THEN :add ELSE min(value + :add, 9007199254740991) END,
      ends = CASE WHEN ends <= :now OR ends > :ends THEN :ends ELSE ends END
    RETURNING value`,
  held: 'SELECT value, ends FROM entries WHERE key = ? AND ends > ? AND ends <= ?',
  join: 'INSERT INTO members (name, entry) VALUES (?, ?) ON CONFLICT DO NOTHING',
  members: `SELECT key FROM members JOIN entries ON id = entry
    WHERE name = ? AND ends > ? ORDER BY entry DESC LIMIT ?`,
  size: 'SELECT size FROM sizes WHERE name = ?',
  leaveOldest: `DELETE FROM entries WHERE id IN
    (SELECT entry FROM members WHERE name = ? ORDER BY entry LIMIT ?) RETURNING key`,
  removeGroup:
    'DELETE FROM entries WHERE id IN (SELECT entry FROM members WHERE name = ?) RETURNING key, ends',
  dropEnded: `DELETE FROM entries WHERE id IN
    (SELECT id FROM entries WHERE ends <= ? ORDER BY ends LIMIT ?) RETURNING key`,
  dropFirstEnding: `DELETE FROM entries WHERE id IN
    (SELECT id FROM entries WHERE key <> ? ORDER BY ends LIMIT ?) RETURNING key`,
};

export type Statements = Readonly<Record<keyof typeof SQL, StatementSync>>;

export function prepareStatements(database: DatabaseSync): Statements {
  const prepare = (name: keyof typeof SQL) => database.prepare(SQL[name]);
  const [version, fileVersion] = [prepare('version'), prepare('fileVersion')];
  // half the cost of an object
  for (const statement of [version, fileVersion]) statement.setReturnArrays(true);
  return {
    begin: prepare('begin'),
    commit: prepare('commit'),
    rollback: prepare('rollback'),
    read: prepare('read'),
    version,
    fileVersion,
    forget: prepare('forget'),
    insert: prepare('insert'),
    replace: prepare('replace'),
    remove: prepare('remove'),
    release: prepare('release'),
    acquire: prepare('acquire'),
    count: prepare('count'),
    held: prepare('held'),
    join: prepare('join'),
    members: prepare('members'),
    size: prepare('size'),
    leaveOldest: prepare('leaveOldest'),
    removeGroup: prepare('removeGroup'),
    dropEnded: prepare('dropEnded'),
    dropFirstEnding: prepare('dropFirstEnding'),
  };
}
