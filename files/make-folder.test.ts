import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from './make-folder.ts';

test('a folder is made with those above it, for its owner alone', t => {
  const root = mkdtempSync(join(tmpdir(), 'folder-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const path = join(root, 'a', 'b');
  makeFolder(path);
  makeFolder(path);
  assert.equal(statSync(path).mode & 0o777, 0o700);
});

test('a file system that refuses as if the folder above were missing is an error, and no endless loop', {
  skip: existsSync('/proc/self') ? false : 'needs /proc',
}, () => {
  assert.throws(() => makeFolder('/proc/nothing'), /ENOENT/);
  assert.throws(() => makeFolder('/proc/nothing/below'), /ENOENT/);
});
