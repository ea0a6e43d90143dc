import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { openStoreKey, parseStoreKey } from '../store-key.ts';

const BYTES = Uint8Array.from({ length: 32 }, (_, index) => 255 - index);

describe('a store key that is given', () => {
  const hex = Buffer.from(BYTES).toString('hex');
  const base64 = Buffer.from(BYTES).toString('base64');
  for (const [form, text] of [
    ['hexadecimal digits', hex],
    ['upper case digits', hex.toUpperCase()],
    ['Base64', base64],
    ['Base64 without padding', base64.replace('=', '')],
    ['Base64 of the URL alphabet', Buffer.from(BYTES).toString('base64url')],
    ['digits and a line feed', `${hex}\n`],
    ['digits of a file from Windows', `${hex}\r\n`],
  ] as const)
    test(`may be ${form}, as text or as the bytes of a Secret`, () => {
      for (const value of [text, Buffer.from(text)])
        assert.deepEqual(exported(value), Buffer.from(BYTES));
    });

  test('may be 32 bytes as they are', () => {
    assert.deepEqual(exported(BYTES), Buffer.from(BYTES));
  });

  test('is refused in any other form, without being shown', () => {
    const wrong = [
      '',
      hex.slice(1),
      `${hex}0`,
      `${hex} `,
      base64.slice(1),
      `${base64}=`,
      'hunter2',
      'é'.repeat(32),
    ];
    for (const value of [...wrong, new Uint8Array(31), new Uint8Array(33), new Uint8Array()]) {
      const key = parseStoreKey(value);
      assert.ok('error' in key, String(value));
      assert.equal(key.error, 'a store key is 32 bytes, as 64 hexadecimal digits or as Base64');
    }
  });

  function exported(value: string | Uint8Array): Buffer | undefined {
    const key = parseStoreKey(value);
    return 'error' in key ? undefined : key.export();
  }
});

describe('the store key of a state folder', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-store-key-'));
  });
  after(() => rm(folder, { recursive: true }));

  test('is made once, readable by its owner alone, and found again', async () => {
    const state = join(folder, 'once', 'state');
    const first = openStoreKey(state, randomBytes);
    assert.equal(first.symmetricKeySize, 32);
    assert.ok(openStoreKey(state, randomBytes).equals(first));
    assert.deepEqual(await readdir(state), ['store.key']);
    assert.equal((await stat(join(state, 'store.key'))).mode & 0o777, 0o600);
    assert.equal((await stat(state)).mode & 0o777, 0o700);
  });

  test('is another one in each folder', () => {
    const [one, two] = ['a', 'b'].map(name => openStoreKey(join(folder, name), randomBytes));
    assert.ok(one !== undefined && two !== undefined && !one.equals(two));
  });

  test('that others may read is closed to them', async () => {
    const state = join(folder, 'open');
    openStoreKey(state, randomBytes);
    await chmod(join(state, 'store.key'), 0o644);
    openStoreKey(state, randomBytes);
    assert.equal((await stat(join(state, 'store.key'))).mode & 0o777, 0o600);
  });

  test('is not replaced when the file is no key', async () => {
    const state = join(folder, 'spoilt');
    openStoreKey(state, randomBytes);
    const path = join(state, 'store.key');
    for (const content of ['', 'hunter2\n', 'ab'.repeat(31)]) {
      await writeFile(path, content);
      assert.throws(
        () => openStoreKey(state, randomBytes),
        (error: Error) =>
          error.message.startsWith(`${path}: a store key is 32 bytes`) &&
          !error.message.includes('hunter2'),
      );
      assert.equal(await readFile(path, 'utf8'), content);
    }
  });

  test('is the same for processes that start at once, of which one made it', async () => {
    const state = join(folder, 'many');
    const program = `
      import { hash, randomBytes } from 'node:crypto';
      import { openStoreKey } from ${JSON.stringify(new URL('../store-key.ts', import.meta.url).href)};
      let made = 0;
      const key = openStoreKey(${JSON.stringify(state)}, randomBytes, () => { made += 1; });
      console.log(made, hash('sha256', key.export()));`;
    const run = () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    const outputs = await Promise.all(Array.from({ length: 6 }, run));
    const told = outputs.map(({ stdout }) => stdout.trim().split(' '));
    assert.equal(new Set(told.map(([, key]) => key)).size, 1);
    assert.deepEqual(told.map(([made]) => Number(made)).sort(), [0, 0, 0, 0, 0, 1]);
    assert.deepEqual(await readdir(state), ['store.key']);
  });

  test('is the one that another process made meanwhile', () => {
    const state = join(folder, 'race');
    let others: ReturnType<typeof openStoreKey> | undefined;
    const key = openStoreKey(state, size => {
      others ??= openStoreKey(state, randomBytes);
      return randomBytes(size);
    });
    assert.ok(others !== undefined && key.equals(others));
  });
});
