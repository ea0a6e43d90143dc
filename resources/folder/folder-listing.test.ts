import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FolderTooLarge, listFolder } from './folder-listing.ts';
import { LONGEST_FILE } from './longest-file.ts';

function folderOf(t: TestContext, sizes: Readonly<Record<string, number>>): string {
  const root = mkdtempSync(join(tmpdir(), 'listing-'));
  t.after(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'in'));
  for (const [name, size] of Object.entries(sizes)) {
    writeFileSync(join(root, name), '');
    truncateSync(join(root, name), size);
  }
  return root;
}

const FILES = { 'a.yaml': 2, 'in/b.json': 2, 'in/c.txt': 1_000, 'in/.d.yaml': 1_000 };

test('all that is in a folder counts towards its bound, up to the bound', t => {
  const root = folderOf(t, FILES);
  assert.deepEqual(
    [...listFolder(root, { entries: 5, bytes: 4 }).files.keys()],
    ['a.yaml', 'in/b.json'],
  );
  assert.throws(() => listFolder(root, { entries: 4, bytes: 4 }), FolderTooLarge);
});

test('the bytes of resource files count, by whatever name they are reached, but of one that is not read', t => {
  const root = folderOf(t, { ...FILES, 'long.yaml': LONGEST_FILE + 1 });
  assert.equal(listFolder(root, { entries: 9, bytes: 4 }).files.size, 3);
  symlinkSync('a.yaml', join(root, 'again.yml'));
  assert.throws(
    () => listFolder(root, { entries: 9, bytes: 5 }),
    /^FolderTooLarge: its .yaml, .yml and .json files have more than 5 bytes together/,
  );
});
