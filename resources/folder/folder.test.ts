import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type FolderContent, type FolderOptions, watchFolder } from './folder.ts';

/** So long that only events can have been what told of a change. */
const BY_EVENTS = { rescanMs: 600_000 };
/** A file that looks half written stays so, and holds up no other. */
const NEVER_STILL = { ...BY_EVENTS, stillMs: 600_000, longestHeldMs: 20 };
const DEADLINE_MS = 5_000;

type Watched = {
  readonly root: string;
  readonly deliveries: FolderContent[];
  write(file: string, text: string | Uint8Array): void;
  /** The delivered texts and errors, once they are these. */
  expect(files: Readonly<Record<string, string>>): Promise<void>;
  /** Resolves once a delivery meets the condition. */
  until(condition: (content: FolderContent) => boolean): Promise<void>;
};

function watched(
  context: TestContext,
  files: Readonly<Record<string, string>>,
  options?: Partial<FolderOptions>,
): Watched {
  const root = mkdtempSync(join(tmpdir(), 'folder-'));
  const write = (file: string, text: string | Uint8Array) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  for (const [file, text] of Object.entries(files)) write(file, text);
  const deliveries: FolderContent[] = [];
  let wake = () => {};
  const onChange = (content: FolderContent) => {
    deliveries.push(content);
    wake();
  };
  const watcher = watchFolder(root, onChange, options);
  context.after(() => {
    watcher.close();
    rmSync(root, { recursive: true, force: true });
  });
  const until = async (condition: (content: FolderContent) => boolean) => {
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    for (;;) {
      const last = deliveries.at(-1);
      if (last !== undefined && condition(last)) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      wake = resolve;
      deadline.onabort = () =>
        reject(new Error(`Still ${JSON.stringify(last === undefined ? last : texts(last))}`));
      await promise;
    }
  };
  const expect = (expected: Readonly<Record<string, string>>) =>
    until(content => JSON.stringify(texts(content)) === JSON.stringify(expected));
  return { root, deliveries, write, expect, until };
}

function texts({ files }: FolderContent): Record<string, string> {
  return Object.fromEntries(
    [...files].map(([file, content]) => [file, 'text' in content ? content.text : content.error]),
  );
}

test('a file that is being written at the start counts once nothing writes to it any more', t => {
  const root = mkdtempSync(join(tmpdir(), 'folder-'));
  t.after(() => rmSync(root, { recursive: true }));
  const path = join(root, 'a.yaml');
  writeFileSync(path, '');
  const started = (pause: () => void) => {
    const told: FolderContent[] = [];
    const options = { ...BY_EVENTS, stillMs: 600_000, pause };
    watchFolder(root, content => told.push(content), options).close();
    return told.map(texts);
  };
  const rest = ['1\n', '2\n', '3\n'];
  const grow = () => {
    const more = rest.shift();
    if (more === undefined) utimesSync(path, 0, 0);
    else appendFileSync(path, more);
  };
  assert.deepEqual(started(grow), [{ 'a.yaml': '1\n2\n3\n' }]);
  assert.deepEqual(started(assert.fail), [{ 'a.yaml': '1\n2\n3\n' }]);
});

test('a file that is emptied to be written anew is never seen empty', async t => {
  const folder = watched(t, { 'a.yaml': 'a' }, BY_EVENTS);
  folder.write('a.yaml', '');
  folder.write('b.yaml', 'b');
  await folder.expect({ 'a.yaml': 'a', 'b.yaml': 'b' });
  folder.write('a.yaml', 'c');
  await folder.expect({ 'a.yaml': 'c', 'b.yaml': 'b' });
  assert.ok(
    folder.deliveries.every(({ files }) => JSON.stringify(files.get('a.yaml')) !== '{"text":""}'),
  );
});

test('a file that stays empty is believed to be', async t => {
  const folder = watched(t, { 'a.yaml': 'a' }, { rescanMs: 30 });
  folder.write('a.yaml', '');
  await folder.expect({ 'a.yaml': '' });
});

test('a file that is written in place in pieces is never seen in part', async t => {
  const folder = watched(t, { 'a.yaml': '1\n2\n3\n', 'b.yaml': '0' }, NEVER_STILL);
  const whole = '4\n5\n6\n7\n8\n';
  for (const [round, end] of [2, 5, 8].entries()) {
    folder.write('a.yaml', whole.slice(0, end));
    folder.write('new.yaml', whole.slice(0, end));
    folder.write('b.yaml', String(round));
    await folder.expect({ 'a.yaml': '1\n2\n3\n', 'b.yaml': String(round) });
  }
  assert.deepEqual(
    folder.deliveries.at(-1)?.problems.map(({ severity, file }) => [severity, file]),
    [
      ['warning', 'a.yaml'],
      ['warning', 'new.yaml'],
    ],
  );
});

test('nothing else of the folder counts while a file is half written, for a while', async t => {
  const folder = watched(t, { 'a.yaml': '1\n2\n' }, { ...BY_EVENTS, stillMs: 50 });
  folder.write('a.yaml', '1\n');
  folder.write('moved.yaml', '2\n');
  await folder.expect({ 'a.yaml': '1\n', 'moved.yaml': '2\n' });
  assert.equal(folder.deliveries.length, 2);
  assert.deepEqual(folder.deliveries.at(-1)?.problems, []);
});

test('a file that was made shorter in place counts without an event', async t => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'elsewhere-'));
  t.after(() => rmSync(elsewhere, { recursive: true }));
  const target = join(elsewhere, 'target.yaml');
  writeFileSync(target, '1\n2\n');
  const folder = watched(t, {}, { rescanMs: 20, stillMs: 30 });
  symlinkSync(target, join(folder.root, 'a.yaml'));
  await folder.expect({ 'a.yaml': '1\n2\n' });
  writeFileSync(target, '1\n');
  await folder.expect({ 'a.yaml': '1\n' });
});

test('the files are delivered sorted and before it returns; hidden and other files are not', context => {
  const folder = watched(context, {
    'b.yaml': 'B',
    'a/z.yml': 'Z',
    'c.json': 'C',
    'd.txt': 'D',
    '.hidden.yaml': 'H',
    '.git/x.yaml': 'X',
  });
  assert.deepEqual(folder.deliveries.map(texts), [
    { 'a/z.yml': 'Z', 'b.yaml': 'B', 'c.json': 'C' },
  ]);
});

test('an edit, a new file and a deletion are told', async context => {
  const folder = watched(context, { 'a.yaml': '1' }, BY_EVENTS);
  folder.write('a.yaml', '2');
  await folder.expect({ 'a.yaml': '2' });
  folder.write('b.yaml', 'b');
  await folder.expect({ 'a.yaml': '2', 'b.yaml': 'b' });
  unlinkSync(join(folder.root, 'a.yaml'));
  await folder.expect({ 'b.yaml': 'b' });
});

test('an atomic rename, as editors write, is told, and never without the file', async context => {
  const folder = watched(context, { 'a.yaml': '1' }, BY_EVENTS);
  for (const text of ['2', '3', '4']) {
    folder.write('.a.yaml.new', text);
    renameSync(join(folder.root, '.a.yaml.new'), join(folder.root, 'a.yaml'));
    await folder.expect({ 'a.yaml': text });
  }
  assert.ok(folder.deliveries.every(({ files }) => files.has('a.yaml')));
});

test('new folders are followed, however deep and quickly made', async context => {
  const folder = watched(context, {}, BY_EVENTS);
  folder.write('x/y/z/a.yaml', '1');
  await folder.expect({ 'x/y/z/a.yaml': '1' });
  folder.write('x/y/z/a.yaml', '2');
  await folder.expect({ 'x/y/z/a.yaml': '2' });
  renameSync(join(folder.root, 'x/y'), join(folder.root, 'x/w'));
  await folder.expect({ 'x/w/z/a.yaml': '2' });
  folder.write('x/w/z/a.yaml', '3');
  await folder.expect({ 'x/w/z/a.yaml': '3' });
  rmSync(join(folder.root, 'x'), { recursive: true });
  await folder.expect({});
});

test("a Kubernetes mount's swap is told as one change of all files", async context => {
  const folder = watched(context, { '..1/a.yaml': 'a1', '..1/b.yaml': 'b1' }, BY_EVENTS);
  symlinkSync('..1', join(folder.root, '..data'));
  symlinkSync('..data/a.yaml', join(folder.root, 'a.yaml'));
  symlinkSync('..data/b.yaml', join(folder.root, 'b.yaml'));
  await folder.expect({ 'a.yaml': 'a1', 'b.yaml': 'b1' });
  for (const round of [2, 3, 4, 5]) {
    folder.write(`..${round}/a.yaml`, `a${round}`);
    folder.write(`..${round}/b.yaml`, `b${round}`);
    symlinkSync(`..${round}`, join(folder.root, '..data_tmp'));
    renameSync(join(folder.root, '..data_tmp'), join(folder.root, '..data'));
    rmSync(join(folder.root, `..${round - 1}`), { recursive: true });
    await folder.expect({ 'a.yaml': `a${round}`, 'b.yaml': `b${round}` });
  }
  const torn = folder.deliveries
    .map(texts)
    .filter(
      ({ 'a.yaml': a, 'b.yaml': b }) =>
        a !== undefined && b !== undefined && a.slice(1) !== b.slice(1),
    );
  assert.deepEqual(torn, []);
});

test('many changes at once are few deliveries', async context => {
  const folder = watched(context, {}, BY_EVENTS);
  const names = Array.from(
    { length: 1000 },
    (_, index) => `${String(index).padStart(4, '0')}.yaml`,
  );
  for (const name of names) folder.write(name, name);
  await folder.until(({ files }) => files.size === names.length);
  assert.ok(folder.deliveries.length < 50, `${folder.deliveries.length} deliveries`);
  folder.write('0500.yaml', 'changed');
  await folder.until(
    ({ files }) => JSON.stringify(files.get('0500.yaml')) === '{"text":"changed"}',
  );
});

test('a change that the file system tells nobody of is found by looking again', async context => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'elsewhere-'));
  context.after(() => rmSync(elsewhere, { recursive: true }));
  writeFileSync(join(elsewhere, 'target.yaml'), '1');
  const folder = watched(context, {}, { rescanMs: 20 });
  symlinkSync(join(elsewhere, 'target.yaml'), join(folder.root, 'a.yaml'));
  await folder.expect({ 'a.yaml': '1' });
  writeFileSync(join(elsewhere, 'target.yaml'), '2');
  await folder.expect({ 'a.yaml': '2' });
});

test('a touch without a change is not told', async context => {
  const folder = watched(context, { 'a.yaml': '1' }, BY_EVENTS);
  utimesSync(join(folder.root, 'a.yaml'), 1, 1);
  folder.write('b.yaml', 'b');
  await folder.expect({ 'a.yaml': '1', 'b.yaml': 'b' });
  assert.ok(
    folder.deliveries.every((content, index) => index === 0 || texts(content)['b.yaml'] === 'b'),
  );
});

test('what cannot be read is said of that file, and the others are delivered', async context => {
  const folder = watched(context, { 'a.yaml': 'A' }, BY_EVENTS);
  folder.write('binary.yaml', new Uint8Array([0x61, 0, 0x62]));
  folder.write('latin.yaml', new Uint8Array([0xe9, 0x0a]));
  folder.write('bom.yaml', new Uint8Array([0xef, 0xbb, 0xbf, 0x61]));
  folder.write('boms.yaml', '\ufeffa: 1\n\ufeff---\n\ufeffb: "\ufeff"\n');
  symlinkSync('nowhere.yaml', join(folder.root, 'dangling.yaml'));
  symlinkSync('nowhere', join(folder.root, 'dangling.txt'));
  symlinkSync('circle.yaml', join(folder.root, 'circle.yaml'));
  execFileSync('mkfifo', [join(folder.root, 'pipe.yaml')]);
  await folder.expect({
    'a.yaml': 'A',
    'binary.yaml': 'Cannot read this: it is a binary file',
    'bom.yaml': 'a',
    'boms.yaml': 'a: 1\n---\nb: "\ufeff"\n',
    'circle.yaml': 'Cannot read this: its symbolic links lead in a circle',
    'dangling.yaml': 'Cannot read this: it does not exist, or its symbolic link leads nowhere',
    'latin.yaml': 'Cannot read this: it is not text in UTF-8',
    'pipe.yaml': 'Cannot read this: it is not a regular file',
  });
});

test('a link to a folder above is a warning, and not followed', async context => {
  const folder = watched(context, { 'x/a.yaml': '1' }, BY_EVENTS);
  symlinkSync('..', join(folder.root, 'x/up'));
  await folder.until(({ problems }) => problems.length > 0);
  const last = folder.deliveries.at(-1);
  assert.deepEqual(
    last?.problems.map(({ severity, file }) => [severity, file]),
    [['warning', 'x/up']],
  );
  assert.deepEqual([...(last?.files.keys() ?? [])], ['x/a.yaml']);
});

test('a folder that vanishes is a Problem, its last files stay, and it is followed again when it is back', async context => {
  const folder = watched(context, { 'a.yaml': '1' }, { rescanMs: 20 });
  renameSync(folder.root, `${folder.root}-away`);
  await folder.until(({ problems }) => problems.length === 1);
  assert.match(
    folder.deliveries.at(-1)?.problems[0]?.message ?? '',
    /does not exist.*\. The last resources of this folder stay in force$/,
  );
  assert.deepEqual(texts(folder.deliveries.at(-1) ?? { files: new Map(), problems: [] }), {
    'a.yaml': '1',
  });
  folder.write('a.yaml', '2');
  await folder.expect({ 'a.yaml': '2' });
  assert.deepEqual(folder.deliveries.at(-1)?.problems, []);
  rmSync(`${folder.root}-away`, { recursive: true });
});

test('a folder that is not there at the start is an error that names it', () => {
  const path = join(tmpdir(), 'there-is-no-such-folder');
  assert.throws(
    () => watchFolder(path, () => {}),
    /Cannot read the folder .*there-is-no-such-folder for resources: it does not exist/,
  );
});

test('a folder that grows far too large is a Problem at once, and its last files stay', async context => {
  const folder = watched(context, { 'a.yaml': '1' }, { rescanMs: 20 });
  const elsewhere = mkdtempSync(join(tmpdir(), 'elsewhere-'));
  context.after(() => rmSync(elsewhere, { recursive: true }));
  for (const level of [0, 1, 2]) {
    mkdirSync(join(elsewhere, String(level)));
    for (let link = 0; link < 30; link++)
      symlinkSync(`../${level + 1}`, join(elsewhere, `${level}/${link}`));
  }
  mkdirSync(join(elsewhere, '3'));
  symlinkSync(join(elsewhere, '0'), join(folder.root, 'many'));
  await folder.until(({ problems }) => problems.length > 0);
  const { files, problems } = folder.deliveries.at(-1) ?? { files: new Map(), problems: [] };
  assert.equal(
    problems[0]?.message,
    'Cannot read this: more than 20000 files and folders are in it: want a folder with resources alone. The last resources of this folder stay in force',
  );
  assert.deepEqual([...files.keys()], ['a.yaml']);
  assert.throws(
    () => watchFolder(folder.root, () => {}),
    new RegExp(
      `^Error: Cannot read the folder ${folder.root} for resources: more than 20000 files`,
    ),
  );
});

test('once closed it tells nothing any more', async context => {
  const folder = watched(context, { 'a.yaml': '1' }, BY_EVENTS);
  const told: FolderContent[] = [];
  watchFolder(folder.root, content => told.push(content), BY_EVENTS).close();
  folder.write('a.yaml', '2');
  await folder.expect({ 'a.yaml': '2' });
  assert.equal(told.length, 1);
});
