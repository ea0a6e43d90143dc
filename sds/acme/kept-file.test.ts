import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { keptFile } from './kept-file.ts';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'kept-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('of two writers of a file the first wins, and the other one reads what it wrote', async t => {
  const folder = folderOf(t);
  const kept = keptFile(folder, { namespace: 'default', name: 'acme-a.example.com' });
  assert.equal(await kept.read(), undefined);
  assert.equal(await kept.write({ a: '1' }, undefined), true);
  assert.equal(await kept.write({ a: '2' }, undefined), false);
  const { mark, texts } = (await kept.read()) ?? {};
  assert.deepEqual(texts, { a: '1' });
  assert.equal(await kept.write({ a: '3' }, mark), true);
  assert.equal(await kept.write({ a: '4' }, mark), false);
});

for (const text of ['', 'x', '5', 'null', '"ab"', '[1]'])
  test(`a file that holds ${text || 'nothing'} holds no certificate`, async t => {
    const folder = folderOf(t);
    const place = { namespace: 'default', name: 'a' };
    await keptFile(folder, place).write({}, undefined);
    writeFileSync(join(folder, 'default', 'a.json'), text);
    const kept = await keptFile(folder, place).read();
    assert.equal(kept?.texts['tls.crt'], undefined);
  });

for (const name of ['', '..', '../a', 'a/b', '/etc', 'A', '.a', 'a\0b', '-', 'a\n'])
  test(`${JSON.stringify(name)} is the name of no file, in either place`, async t => {
    const folder = folderOf(t);
    const places = [
      { namespace: 'default', name },
      { namespace: name, name: 'a' },
    ];
    for (const place of places) {
      await assert.rejects(keptFile(folder, place).read(), /cannot be the name of a file/);
      await assert.rejects(keptFile(folder, place).write({}, undefined), /cannot be the name/);
    }
  });
