import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseEnv } from 'node:util';
import { readConfig } from '../../../user-service/config.ts';
import { composeService } from '../../testing/compose-file.ts';

const SCRIPT = join(import.meta.dirname, '..', 'create-database-secret.ts');

/** Returns a volume, in which the script has run once. `create` runs it again. */
function volume(t: TestContext, before?: (folder: string) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'database-secret-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const create = () => execFileSync(process.execPath, [SCRIPT, folder]);
  before?.(folder);
  create();
  return { folder, create, content: (file: string) => readFileSync(join(folder, file), 'utf8') };
}

test('the user service gets the URL of the database that PostgreSQL makes', t => {
  const { content } = volume(t);
  const { database } = readConfig(parseEnv(content('database.env')));
  assert.ok(database.kind === 'postgres');
  const { username, password, host, pathname } = new URL(database.url);
  const { POSTGRES_USER, POSTGRES_DB } = composeService('postgres').environment ?? {};
  assert.deepEqual(
    { username, host, pathname },
    { username: POSTGRES_USER, host: 'postgres:5432', pathname: `/${POSTGRES_DB}` },
  );
  assert.equal(password, content('password'));
  assert.match(password, /^[0-9a-f]{48}$/);
});

test('each installation has a password of its own, which stays', t => {
  const { folder, create, content } = volume(t);
  const first = content('password');
  create();
  assert.equal(content('password'), first);
  rmSync(join(folder, 'password'));
  create();
  assert.notEqual(content('password'), first);
});

test('a container that was killed while it wrote does not hinder the next', t => {
  const { content } = volume(t, folder =>
    writeFileSync(join(folder, 'password.new'), 'half', { mode: 0o444 }),
  );
  assert.match(content('password'), /^[0-9a-f]{48}$/);
});

test('users of other containers can read the files, nobody can write to them', t => {
  const { folder } = volume(t);
  for (const file of ['password', 'database.env'])
    assert.equal(statSync(join(folder, file)).mode & 0o777, 0o444);
});
