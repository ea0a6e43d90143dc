import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { reaching, readImportGraph } from './import-graph.ts';

const root = mkdtempSync(join(tmpdir(), 'import-graph-'));
after(() => rmSync(root, { recursive: true }));

const FILES: Readonly<Record<string, string>> = {
  'a/core.ts': "import { readFileSync } from 'node:fs';",
  'a/thread.ts': "import './core.ts';",
  'a/starts-thread.ts': "new Worker(new URL('./thread.ts', import.meta.url));",
  'a/a.test.ts': "import { x } from './starts-thread.ts';",
  'a/golden.test.ts': "const FOLDER = join(import.meta.dirname, 'testdata');",
  'a/testdata/case.yaml': '',
  'b/type.ts': "import type { X } from '#a/core.ts';",
  'b/later.ts': "await import('./type.ts');",
  'b/b.test.ts': 'import "./later.ts";',
  'b/gone.test.ts': "import './gone.ts';",
  'b/main.ts': "import '../a/core.ts';",
  'b/e2e/main.test.ts': "spawn(process.execPath, [join(import.meta.dirname, '..', 'main.ts')]);",
  'launch/parts.ts': "const PARTS = ['b/main.ts', 'left-pad', 'b'];",
  'launch/e2e/up.test.ts': "import '../parts.ts';",
  'docs/page.test.ts': "read('README.md'); join(ROOT, 'deploy', 'manifests');",
  'README.md': '',
  'deploy/manifests/edge.yaml': '',
  'node_modules/left-pad/index.cjs': "require('../../a/core.ts')",
};
for (const [file, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

const graph = readImportGraph(root);
const tests = (changed: string, programs: boolean) =>
  [...reaching(graph, [changed], { programs })].filter(file => file.endsWith('.test.ts')).sort();

describe('a change reaches', () => {
  for (const [what, changed, expected] of [
    [
      'what imports it, by a path, an alias, for a type or later, and in a thread',
      'a/core.ts',
      ['a/a.test.ts', 'b/b.test.ts'],
    ],
    ['each test beside the data', 'a/testdata/case.yaml', ['a/a.test.ts', 'a/golden.test.ts']],
    [
      'the test that reads a new file of a folder',
      'deploy/manifests/new.yaml',
      ['docs/page.test.ts'],
    ],
    ['the test that reads a document', 'README.md', ['docs/page.test.ts']],
    ['a test itself', 'b/b.test.ts', ['b/b.test.ts']],
    ['what imports it where it is gone', 'b/gone.ts', ['b/gone.test.ts']],
    ['nothing that only names a word', 'b/later.ts', ['b/b.test.ts']],
  ] as const)
    test(what, () => {
      assert.deepEqual(tests(changed, false), expected);
    });

  test('what starts it as a program, where tests may start programs', () => {
    assert.deepEqual(tests('b/main.ts', false), []);
    assert.deepEqual(tests('b/main.ts', true), ['b/e2e/main.test.ts', 'launch/e2e/up.test.ts']);
  });
});
