import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createFile, replaceFile, withDraft, writeDurably } from '../write-durably.ts';

const root = mkdtempSync(join(tmpdir(), 'files-'));
after(() => rmSync(root, { recursive: true }));
let folders = 0;

/** A folder of its own for each test, and a path in it. */
function newPath(): { folder: string; path: string } {
  folders += 1;
  const folder = join(root, String(folders));
  mkdirSync(folder);
  return { folder, path: join(folder, 'a.txt') };
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

for (const [name, write] of Object.entries({ writeDurably, replaceFile, createFile })) {
  test(`${name} writes all of the content, for the owner alone, and nothing else`, () => {
    const { folder, path } = newPath();
    write(path, 'Łukasz');
    assert.equal(readFileSync(path, 'utf8'), 'Łukasz');
    assert.equal(modeOf(path), 0o600);
    assert.deepEqual(readdirSync(folder), ['a.txt']);
  });

  test(`${name} throws the system's error where there is no folder`, () => {
    assert.throws(() => write(join(root, 'nowhere', 'a.txt'), 'x'), { code: 'ENOENT' });
  });
}

test('a file that is replaced is another file, so that who reads the old one reads it to its end', () => {
  const { path } = newPath();
  writeFileSync(path, 'a long text of before', { mode: 0o644 });
  const before = statSync(path).ino;
  replaceFile(path, 'now');
  assert.equal(readFileSync(path, 'utf8'), 'now');
  assert.notEqual(statSync(path).ino, before);
  assert.equal(modeOf(path), 0o600);
});

test('a file that cannot be replaced leaves no draft', () => {
  const { folder, path } = newPath();
  mkdirSync(path);
  assert.throws(() => replaceFile(path, 'x'), { code: 'EISDIR' });
  assert.deepEqual(readdirSync(folder), ['a.txt']);
});

test('a file that is there is not created', () => {
  const { folder, path } = newPath();
  assert.equal(createFile(path, 'first'), true);
  assert.equal(createFile(path, 'second'), false);
  assert.equal(readFileSync(path, 'utf8'), 'first');
  assert.deepEqual(readdirSync(folder), ['a.txt']);
});

test('of processes that create one file at the same time one does, and all read its content', async () => {
  const { folder, path } = newPath();
  const said = await Promise.all(
    Array.from({ length: 4 }, (_, at) => createElsewhere(path, `content ${at}`)),
  );
  const content = readFileSync(path, 'utf8');
  assert.deepEqual(said.map(({ created }) => created).sort(), [false, false, false, true]);
  assert.equal(said.find(({ created }) => created)?.mine, content);
  assert.deepEqual(readdirSync(folder), ['a.txt']);
});

test('a draft is whole when it is used, beside its place, and gone when that fails', () => {
  const { folder, path } = newPath();
  const use = (draft: string) => {
    assert.equal(readFileSync(draft, 'utf8'), 'content');
    assert.equal(readdirSync(folder).length, 1);
    throw new Error('no');
  };
  assert.throws(() => withDraft(path, 'content', use), /^Error: no$/);
  assert.deepEqual(readdirSync(folder), []);
});

async function createElsewhere(
  path: string,
  mine: string,
): Promise<{ mine: string; created: boolean }> {
  const code = `import { createFile } from ${JSON.stringify(join(import.meta.dirname, '..', 'write-durably.ts'))};
    process.exit(createFile(${JSON.stringify(path)}, ${JSON.stringify(mine)}) ? 0 : 3);`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], {
    stdio: 'inherit',
  });
  const [exit] = await once(child, 'exit');
  assert.ok(exit === 0 || exit === 3);
  return { mine, created: exit === 0 };
}
