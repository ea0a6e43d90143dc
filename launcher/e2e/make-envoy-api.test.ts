import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { envoyBinary } from '#envoy/binary.ts';
import { API_PATH } from '#protos/envoy-api/api-file.ts';
import { writeApi } from '../make-envoy-api.ts';

const folder = mkdtempSync(join(tmpdir(), 'envoy-api-'));
const path = join(folder, 'api.json');
after(() => rmSync(folder, { recursive: true }));

test('the API that we use is the one in our Envoy, and what an older Envoy gave goes', async () => {
  writeFileSync(join(folder, '1.0.0.json'), '{}');
  writeApi(await envoyBinary(), path);
  assert.ok(readFileSync(path).equals(readFileSync(API_PATH)), 'another API');
  assert.deepEqual(readdirSync(folder), ['api.json']);
  // In the image root writes it, and another user reads it.
  assert.equal(statSync(path).mode & 0o444, 0o444);
});

for (const [what, program] of [
  ['another program', process.execPath],
  ['an empty one', '/dev/null'],
  ['a missing one', '/no/envoy'],
] as const)
  test(`${what} gives no API and leaves the one that is there`, () => {
    writeFileSync(path, 'kept');
    assert.throws(() => writeApi(program, path), {
      message: new RegExp(`^Cannot make Envoy's API out of ${program}: (no validate/|ENOENT)`),
    });
    assert.deepEqual([readFileSync(path, 'utf8'), readdirSync(folder)], ['kept', ['api.json']]);
  });
