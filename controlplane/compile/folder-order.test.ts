import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** As ARCHITECTURE.md names them. */
const FOLDERS = ['clusters', 'tls', 'ext-authz', 'rate-limits', 'routes', 'listeners', 'gateways'];

function importedFolders(folder: string): ReadonlySet<string> {
  const path = join(import.meta.dirname, folder);
  const files = readdirSync(path).filter(
    file => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const texts = files.map(file => readFileSync(join(path, file), 'utf8'));
  const specifiers = texts.flatMap(text => [...text.matchAll(/from '\.\.\/([^/']+)\/[^']+'/g)]);
  return new Set(specifiers.map(([, name = '']) => name));
}

for (const [index, folder] of FOLDERS.entries()) {
  test(`${folder} imports only from folders before it`, () => {
    const before = new Set(FOLDERS.slice(0, index));
    assert.deepEqual([...importedFolders(folder).difference(before)], []);
  });
}

test('what routes import is seen', () => {
  assert.deepEqual([...importedFolders('routes')].sort(), [
    'clusters',
    'ext-authz',
    'rate-limits',
    'tls',
  ]);
});
