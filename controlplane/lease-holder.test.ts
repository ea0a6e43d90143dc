import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { leaseHolder } from './lease-holder.ts';

test('a control plane keeps its identity with its state folder, and no other has it', t => {
  const folders = ['one', 'other'].map(name => mkdtempSync(join(tmpdir(), `holder-${name}-`)));
  t.after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });
  const [one, other] = folders.map(leaseHolder);
  assert.equal(leaseHolder(folders[0] ?? ''), one);
  assert.notEqual(one, other);
});
