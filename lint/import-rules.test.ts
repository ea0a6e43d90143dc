import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { forbiddenImports } from './import-check.ts';
import { IMPORT_RULES, type ImportRow, ROOMS } from './import-rules.ts';

const ROOT = join(import.meta.dirname, '..');

const importing = (specifier: string) => `import '${specifier}';\n`;

/** Returns the rooms that a row must not reach by alias. */
function forbiddenAliases(row: ImportRow): string[] {
  const allowed = (room: string) =>
    row.ours.some(
      place => place === room || room.startsWith(`${place}/`) || place.startsWith(`${room}/`),
    );
  return ROOMS.filter(room => room !== row.folder && !allowed(room));
}

test('each file imports only what its row allows', () => {
  const files = globSync('**/*.ts', {
    cwd: ROOT,
    exclude: path => /(^|\/)(node_modules|\.gateway|\.git|dist)$/.test(path),
  });
  assert.ok(files.length > 1000, 'files are found');
  assert.deepEqual(
    files.flatMap(file => forbiddenImports(file, readFileSync(join(ROOT, file), 'utf8'))),
    [],
  );
});

test('each row refuses what it does not allow, from its top and from below it', () => {
  for (const row of IMPORT_RULES) {
    const wrong = [
      ...forbiddenAliases(row).map(alias => `#${alias}/x.ts`),
      'left-pad',
      '../elsewhere/x.ts',
    ];
    if (!row.node) wrong.push('node:fs');
    const planted = [
      ...wrong.map((specifier, i) => [`${row.folder}/planted-${i}.ts`, specifier] as const),
      [`${row.folder}/below/planted.ts`, '../../elsewhere/x.ts'] as const,
    ];
    for (const [path, specifier] of planted) {
      const [said = '', ...more] = forbiddenImports(path, importing(specifier));
      const names = `${path} imports "${specifier}", but ${row.folder} may import `;
      assert.ok(said.startsWith(names) && more.length === 0, `${path} ${specifier}: ${said}`);
    }
  }
});

test('each row allows what it names, and its own files', () => {
  for (const row of IMPORT_RULES) {
    const right = [
      ...row.ours.map(place => (place.endsWith('.ts') ? `#${place}` : `#${place}/x.ts`)),
      ...row.packages,
      './x.ts',
      './below/x.ts',
    ];
    if (row.node) right.push('node:fs', 'node:fs/promises');
    const planted = right.map(importing).join('');
    assert.deepEqual(forbiddenImports(`${row.folder}/planted.ts`, planted), []);
    assert.deepEqual(forbiddenImports(`${row.folder}/below/planted.ts`, importing('../x.ts')), []);
  }
});

test('an import is seen in each of its forms', () => {
  const forms = [
    "import value from 'left-pad';",
    "import value, { type Other } from 'left-pad';",
    "import type { Only } from 'left-pad';",
    "import {\n  first,\n  second,\n} from 'left-pad';",
    "import * as all from 'left-pad';",
    "export * from 'left-pad';",
    "export { value as other } from 'left-pad';",
    "export type { Only } from 'left-pad';",
    "const value = await import('left-pad');",
    "const value = require('left-pad');",
    "type Only = import('left-pad').Only;",
  ];
  for (const form of forms)
    assert.equal(forbiddenImports('xds/planted.ts', `${form}\n`).length, 1, form);
});

test('tests, and what they share, import anything', () => {
  const [nested = ''] = ROOMS.filter(room => room.includes('/'));
  for (const path of ['xds/x.test.ts', 'xds/testing/x.ts', 'xds/e2e/x.ts', `${nested}/e2e/x.ts`])
    assert.deepEqual(forbiddenImports(path, importing('left-pad')), [], path);
});
