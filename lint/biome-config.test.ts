import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { biomeConfig } from './biome-config.ts';

test('biome.json is what the table of import rules says', () => {
  const written = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'biome.json'), 'utf8'));
  assert.deepEqual(written, JSON.parse(JSON.stringify(biomeConfig())));
});
