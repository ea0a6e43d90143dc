import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PRODUCT_VERSION } from './product-version.ts';
import { checkState, markState } from './state-mark.ts';

function folderWith(t: TestContext, text?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'state-mark-'));
  t.after(() => rmSync(folder, { recursive: true }));
  if (text !== undefined) writeFileSync(join(folder, 'version.json'), text);
  return folder;
}

test('a folder from before there were marks is taken over, and marked with this version', t => {
  const folder = folderWith(t);
  assert.equal(checkState(folder), undefined);
  markState(folder);
  assert.deepEqual(checkState(folder), { format: 1, version: PRODUCT_VERSION });
  assert.deepEqual(readdirSync(folder), ['version.json']);
});

test('a folder of another version in the same format is marked with this one', t => {
  const folder = folderWith(t, '{"format":1,"version":"99.0.0","more":true}');
  markState(folder);
  assert.deepEqual(checkState(folder), { format: 1, version: PRODUCT_VERSION });
});

const NEWER = '{"format":2,"version":"9.1.0"}';

test('a folder in a newer format is left as it is, and the error says what to do', t => {
  const folder = folderWith(t, NEWER);
  assert.throws(
    () => markState(folder),
    new RegExp(
      `^Error: ${folder} was written by version 9\\.1\\.0 in format 2, and version .* reads format 1: start version 9\\.1\\.0 again, or put a backup`,
    ),
  );
  assert.equal(readFileSync(join(folder, 'version.json'), 'utf8'), NEWER);
});

for (const text of ['', '{', 'null', '[]', '{"format":"1","version":"1"}', '{"format":1}'])
  test(`a mark that is ${JSON.stringify(text)} is damaged, and no reason to go on`, t => {
    const folder = folderWith(t, text);
    assert.throws(() => markState(folder), /version\.json is damaged/);
    assert.equal(readFileSync(join(folder, 'version.json'), 'utf8'), text);
  });
