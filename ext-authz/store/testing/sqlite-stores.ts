import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteRecordStore, type SqliteRecordStoreOptions } from '../sqlite-record-store.ts';
import type { TestStores } from './test-stores.ts';

export type SqliteTestStores = TestStores & { readonly file: string };

/**
 * Two replicas on one file in a folder of its own, with a clock that stands still until time is let
 * pass.
 */
export async function openSqliteStores(
  options: Partial<SqliteRecordStoreOptions> = {},
): Promise<SqliteTestStores> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-records-'));
  const file = join(folder, 'state', 'records.sqlite');
  let now = 1_700_000_000_000;
  const open = () =>
    openSqliteRecordStore(file, { now: () => now, uptime: () => performance.now(), ...options });
  const [one, two] = await Promise.all([open(), open()]);
  return {
    one,
    two,
    file,
    pass: ms => {
      now += ms;
    },
    dump: () => readAll(join(folder, 'state')),
    close: async () => {
      await Promise.all([one.close(), two.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The file, its log and whatever else is there. */
export async function readAll(folder: string): Promise<Buffer> {
  const names = await readdir(folder);
  return Buffer.concat(await Promise.all(names.map(name => readFile(join(folder, name)))));
}
