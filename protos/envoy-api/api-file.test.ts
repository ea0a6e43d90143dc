import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readApi } from './api-file.ts';
import { ENVOY_FILES } from './envoy-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'api-'));
after(() => rmSync(folder, { recursive: true }));

const whole = JSON.stringify(readApi());

function read(content: string): unknown {
  writeFileSync(join(folder, 'api.json'), content);
  return readApi(join(folder, 'api.json'));
}

test('a whole file is read', () => {
  assert.notEqual(whole, undefined);
  assert.equal(JSON.stringify(read(whole)), whole);
});

for (const [what, content] of [
  ['empty', ''],
  ['cut off', whole.slice(0, -1)],
  ['null', 'null'],
  ['a list', '[]'],
  ['of another list of files', whole.replace(ENVOY_FILES[0], 'envoy/other.proto')],
] as const)
  test(`a file that is ${what} counts as none`, () => {
    assert.equal(read(content), undefined);
  });

test('a whole file is read where it is compressed', () => {
  writeFileSync(join(folder, 'packed.json.gz'), gzipSync(whole));
  assert.equal(JSON.stringify(readApi(join(folder, 'packed.json'))), whole);
});

test('a file that is not there counts as none', () => {
  assert.equal(readApi(join(folder, 'none.json')), undefined);
});
