import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileLastGoodStore } from './last-good-store.ts';

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'last-good-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('a store that was never written is empty', async t => {
  const store = fileLastGoodStore(join(await newFolder(t), 'last-good.json'));
  assert.deepEqual(await store.read(), []);
});

test('what was written is read back, in a file that only its owner can read', async t => {
  const path = join(await newFolder(t), 'last-good.json');
  const documents = [{ file: 'a.yaml', document: { kind: 'Mapping' } }];
  await fileLastGoodStore(path).write(documents);
  assert.deepEqual(await fileLastGoodStore(path).read(), documents);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test('a damaged file is an error, not an empty store', async t => {
  const path = join(await newFolder(t), 'last-good.json');
  await writeFile(path, '{"half":');
  await assert.rejects(fileLastGoodStore(path).read(), SyntaxError);
});

for (const text of ['{}', '[null]', '["a.yaml"]', '[{"document": {}}]'])
  test(`so is ${text}, since it is no list of documents with their places`, async t => {
    const path = join(await newFolder(t), 'last-good.json');
    await writeFile(path, text);
    await assert.rejects(fileLastGoodStore(path).read(), /not a list of documents/);
  });

test('a write that fails leaves what was there', async t => {
  const path = join(await newFolder(t), 'last-good.json');
  const store = fileLastGoodStore(path);
  await store.write([{ file: 'a.yaml', document: 1 }]);
  await assert.rejects(store.write([{ file: 'a.yaml', document: 1n }]));
  assert.deepEqual(await store.read(), [{ file: 'a.yaml', document: 1 }]);
});

test('a folder that was deleted is made again, for its owner alone', async t => {
  const folder = join(await newFolder(t), 'state');
  const store = fileLastGoodStore(join(folder, 'last-good.json'));
  await store.write([]);
  await rm(folder, { recursive: true });
  assert.equal(await store.isThere(), false);
  await store.write([{ file: 'a.yaml', document: 1 }]);
  assert.deepEqual(
    [await store.read(), await store.isThere()],
    [[{ file: 'a.yaml', document: 1 }], true],
  );
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
});
