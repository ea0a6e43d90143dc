import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readKeys } from './keys.ts';

function folder(t: { after(run: () => void): void }): string {
  const path = mkdtempSync(join(tmpdir(), 'keys-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

test('keys are made once, for several that start at once too, and belong to their owner alone', async t => {
  const file = join(folder(t), 'below', 'keys.json');
  const [first, ...others] = await Promise.all(Array.from({ length: 4 }, () => readKeys(file)));
  for (const keys of others) assert.deepEqual(keys, first);
  assert.deepEqual(await readKeys(file), first);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

for (const text of ['', '{}', 'null', '{"signing":{"d":1},"cookies":"x"}']) {
  test(`a file with ${text || 'nothing'} is named, and left as it is`, async t => {
    const file = join(folder(t), 'keys.json');
    writeFileSync(file, text);
    await assert.rejects(readKeys(file), {
      message: `${file} does not hold the provider's keys: remove it`,
    });
  });
}
