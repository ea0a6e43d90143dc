import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeStateFolder } from './state-folder.ts';

test('the state folder is made for its owner alone, and kept when it is there', t => {
  const folder = mkdtempSync(join(tmpdir(), 'state-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const state = join(folder, 'state');
  makeStateFolder(state);
  assert.equal(statSync(state).mode & 0o777, 0o700);
  writeFileSync(join(state, 'kept'), '');
  makeStateFolder(state);
  assert.ok(statSync(join(state, 'kept')).isFile());
  assert.throws(
    () => makeStateFolder(join(state, 'kept', 'below')),
    /STATE: cannot make the folder .*ENOTDIR|EEXIST/,
  );
  assert.throws(
    () => makeStateFolder(join(folder, 'no', 'parent')),
    /STATE: cannot make the folder .*ENOENT/,
  );
});
