import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFile,
  mkdir,
  mkdtemp,
  open,
  rename,
  rm,
  rmdir,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promised } from '#envoy/e2e/promised.ts';
import { until } from '#envoy/e2e/until.ts';
import { STILL_MS } from './stillness.ts';
import { type FileState, watchFile } from './watch-file.ts';

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'watch-file-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Watches and returns a function that waits for the next state. */
function watchStates(t: TestContext, path: string): () => Promise<FileState> {
  const states: FileState[] = [];
  t.after(watchFile(path, state => states.push(state)));
  return () => until(() => states.shift());
}

const text = (content: string): FileState => ({ kind: 'text', text: content });

test('an edit in place is seen', async t => {
  const path = join(await temporaryFolder(t), 'f');
  await writeFile(path, 'a');
  const next = watchStates(t, path);
  assert.deepEqual(await next(), text('a'));
  await writeFile(path, 'ab');
  assert.deepEqual(await next(), text('ab'));
  await appendFile(path, 'c');
  assert.deepEqual(await next(), text('abc'));
});

test('no part of what is written in place is told of', async t => {
  const path = join(await temporaryFolder(t), 'f');
  await writeFile(path, 'before');
  const states: FileState[] = [];
  t.after(watchFile(path, state => states.push(state)));
  await until(() => states[0]);
  await until(async () => {
    states.length = 0;
    const pause = await writeSlowly(path);
    await until(
      () => states.some(state => state.kind === 'text' && state.text === SLOW) || undefined,
    );
    // A machine that is busy elsewhere makes any writer pause.
    return pause < STILL_MS / 2 || undefined;
  });
  assert.deepEqual(states, [text(SLOW)]);
});

const SLOW = 'a'.repeat(40);

/** Writes in many parts, with time for a reader between them. Returns the longest pause, in ms. */
async function writeSlowly(path: string): Promise<number> {
  await using file = await open(path, 'w');
  let longest = 0;
  for (const character of SLOW) {
    const start = performance.now();
    await file.write(character);
    await delay(10);
    longest = Math.max(longest, performance.now() - start);
  }
  return longest;
}

test('a file renamed onto the path is seen, time and again, within 100 ms', async t => {
  const path = join(await temporaryFolder(t), 'f');
  await writeFile(path, '0');
  const next = watchStates(t, path);
  assert.deepEqual(await next(), text('0'));
  const delays: number[] = [];
  for (const content of ['1', '2', '3', '4', '5']) {
    await writeFile(`${path}.tmp`, content);
    const start = performance.now();
    await rename(`${path}.tmp`, path);
    assert.deepEqual(await next(), text(content));
    delays.push(performance.now() - start);
  }
  assert.ok(Math.min(...delays) < promised(100), `it took ${delays.map(Math.round)} ms`);
});

test('a folder link that is swapped, as Kubernetes does, is seen', async t => {
  const folder = await temporaryFolder(t);
  for (const version of ['v1', 'v2', 'v3']) {
    await mkdir(join(folder, version));
    await writeFile(join(folder, version, 'f'), version);
  }
  await symlink('v1', join(folder, '..data'));
  await symlink('..data/f', join(folder, 'f'));
  const next = watchStates(t, join(folder, 'f'));
  assert.deepEqual(await next(), text('v1'));
  for (const version of ['v2', 'v3']) {
    await symlink(version, join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    assert.deepEqual(await next(), text(version));
  }
});

test('an edit of the file that a link leads to is seen', async t => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'elsewhere'));
  const target = join(folder, 'elsewhere', 'f');
  await writeFile(target, 'a');
  await symlink(target, join(folder, 'link'));
  const next = watchStates(t, join(folder, 'link'));
  assert.deepEqual(await next(), text('a'));
  await writeFile(target, 'b');
  assert.deepEqual(await next(), text('b'));
});

test('a missing file is told of, then found when it appears, and its loss is told of', async t => {
  const path = join(await temporaryFolder(t), 'f');
  const next = watchStates(t, path);
  assert.deepEqual(await next(), { kind: 'missing' });
  await writeFile(path, 'here');
  assert.deepEqual(await next(), text('here'));
  await unlink(path);
  assert.deepEqual(await next(), { kind: 'missing' });
});

test('a folder that appears late, or is replaced, is followed', async t => {
  const folder = join(await temporaryFolder(t), 'late');
  const path = join(folder, 'f');
  const next = watchStates(t, path);
  assert.deepEqual(await next(), { kind: 'missing' });
  for (const content of ['first', 'second']) {
    await mkdir(`${folder}.new`);
    await writeFile(join(`${folder}.new`, 'f'), content);
    await rm(folder, { recursive: true, force: true });
    await rename(`${folder}.new`, folder);
    const found = async () => {
      const state = await next();
      return state.kind === 'text' && state.text === content ? true : undefined;
    };
    await until(found);
  }
});

test('what is no file, or too large a one, cannot be read, and the file after it can', async t => {
  const path = join(await temporaryFolder(t), 'f');
  const next = watchStates(t, path);
  assert.equal((await next()).kind, 'missing');
  const unreadable = (message: string) => ({ kind: 'unreadable', message });
  await mkdir(path);
  assert.deepEqual(await next(), unreadable('it is no file'));
  await rmdir(path);
  assert.equal((await next()).kind, 'missing');
  execFileSync('mkfifo', [path]);
  assert.deepEqual(await next(), unreadable('it is no file'));
  await unlink(path);
  assert.equal((await next()).kind, 'missing');
  await writeFile(path, '');
  assert.deepEqual(await next(), text(''));
  await truncate(path, 17 * 1024 * 1024);
  assert.deepEqual(await next(), unreadable('it has more than 16777216 bytes'));
  await writeFile(path, 'whole');
  // The read may come between the cut and the write.
  await until(async () => ((await next()).kind === 'text' ? true : undefined));
});

test('a file that changes while it is read, again and again, is told of, and read after that', async t => {
  const path = join(await temporaryFolder(t), 'f');
  const states: FileState[] = [];
  // Time passes faster here, so that the test need not wait for it.
  const now = () => performance.now() * 100;
  await using file = await open(path, 'w');
  t.after(watchFile(path, state => states.push(state), now));
  let ended = false;
  const writing = (async () => {
    while (!ended) await file.write('a');
  })();
  const message = 'it changes while it is read, again and again';
  await until(() => states.find(state => state.kind === 'unreadable'));
  ended = true;
  await writing;
  assert.deepEqual(
    states.find(state => state.kind === 'unreadable'),
    { kind: 'unreadable', message },
  );
  await until(() => (states.at(-1)?.kind === 'text' ? true : undefined));
});
