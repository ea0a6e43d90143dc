import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasYaml } from './has-yaml.ts';

test('a folder of resources has those of the folders in it, which the control plane reads too', t => {
  const folder = mkdtempSync(join(tmpdir(), 'has-yaml-'));
  t.after(() => rmSync(folder, { recursive: true }));
  assert.equal(hasYaml(join(folder, 'missing')), false);
  mkdirSync(join(folder, 'shop'));
  writeFileSync(join(folder, 'shop', 'notes.txt'), '');
  assert.equal(hasYaml(folder), false);
  writeFileSync(join(folder, 'shop', 'site.yml'), '');
  assert.equal(hasYaml(folder), true);
  assert.equal(hasYaml(join(folder, 'shop')), true);
});

test('the sources of a checkout are no folder of resources', () => {
  assert.equal(hasYaml(join(import.meta.dirname, '..', 'resources')), false);
});
