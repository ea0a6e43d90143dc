import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { biomeConfig, forbiddenAliases } from '../biome-config.ts';
import { IMPORT_RULES } from '../import-rules.ts';

const BIOME = join(import.meta.dirname, '..', '..', 'node_modules', '.bin', 'biome');

/** Returns which of these files Biome rejects for an import, with the project's own rules. */
function refusedFiles(files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'imports-'));
  try {
    const { $schema: _, ...config } = biomeConfig() as { $schema: string };
    const all = { ...files, 'biome.json': JSON.stringify({ ...config, root: true }) };
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const only = '--only=style/noRestrictedImports';
    const run = spawnSync(
      BIOME,
      ['lint', only, '--reporter=github', '--max-diagnostics=none', '.'],
      {
        cwd: folder,
        encoding: 'utf8',
      },
    );
    const lines = `${run.stdout}${run.stderr}`
      .split('\n')
      .filter(line => line.includes('noRestrictedImports'));
    return lines
      .map(line => /file=([^,]+)/.exec(line)?.[1] ?? line)
      .map(path => relative(folder, resolve(folder, path)))
      .sort();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const importing = (specifier: string) => `import '${specifier}';\n`;

test('each row refuses what it does not allow, from its top and from below it', () => {
  const planted: Record<string, string> = {};
  for (const row of IMPORT_RULES) {
    const wrong = [
      ...forbiddenAliases(row).map(alias => `#${alias}/x.ts`),
      'left-pad',
      '../elsewhere/x.ts',
    ];
    if (!row.node) wrong.push('node:fs');
    wrong.forEach((specifier, i) => {
      planted[`${row.folder}/planted-${i}.ts`] = importing(specifier);
    });
    planted[`${row.folder}/below/planted.ts`] = importing('../../elsewhere/x.ts');
  }
  assert.deepEqual(refusedFiles(planted), Object.keys(planted).sort());
});

test('each row allows what it names, and its own files', () => {
  const planted: Record<string, string> = {};
  for (const row of IMPORT_RULES) {
    const right = [
      ...row.ours.map(place => (place.endsWith('.ts') ? `#${place}` : `#${place}/x.ts`)),
      ...row.packages,
      './x.ts',
      './below/x.ts',
    ];
    if (row.node) right.push('node:fs', 'node:fs/promises');
    planted[`${row.folder}/planted.ts`] = right.map(importing).join('');
    planted[`${row.folder}/below/planted.ts`] = importing('../x.ts');
  }
  assert.deepEqual(refusedFiles(planted), []);
});
