import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { testFiles } from './test-files.ts';

const root = mkdtempSync(join(tmpdir(), 'test-files-'));
after(() => rmSync(root, { recursive: true }));

for (const file of [
  'a/one.test.ts',
  'a/deep/two.test.ts',
  'b/three.test.ts',
  'b/four.ts',
  'node_modules/x/x.test.ts',
  '.gateway/x.test.ts',
]) {
  mkdirSync(join(root, dirname(file)), { recursive: true });
  writeFileSync(join(root, file), '');
}

describe('the tests that run', () => {
  test('are all of the project’s own', () => {
    assert.deepEqual(testFiles(root, []), [
      'a/deep/two.test.ts',
      'a/one.test.ts',
      'b/three.test.ts',
    ]);
  });

  test('are those of a folder', () => {
    assert.deepEqual(testFiles(root, ['a']), ['a/deep/two.test.ts', 'a/one.test.ts']);
  });

  test('are the files that are named', () => {
    assert.deepEqual(testFiles(root, ['b/three.test.ts', 'a/one.test.ts']), [
      'b/three.test.ts',
      'a/one.test.ts',
    ]);
  });

  test('are never none', () => {
    assert.throws(() => testFiles(root, ['nowhere']), /^Error: There is no test in "nowhere"/);
  });
});
