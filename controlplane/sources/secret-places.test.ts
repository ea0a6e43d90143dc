import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type FoundValue, SecretPlaces } from './secret-places.ts';

/** Resources in `in/`, other secrets in `run/`, and what is nobody's in `out`. */
function placesIn(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'places-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const folder of ['in/deep', 'run', 'infix'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const file of ['in/a', 'in/deep/b', 'run/c', 'out', 'infix/d'])
    writeFileSync(join(root, file), `content of ${file}`);
  writeFileSync(join(root, 'in/empty'), '');
  writeFileSync(join(root, 'in/long'), '');
  truncateSync(join(root, 'in/long'), 1024 * 1024 + 1);
  symlinkSync('a', join(root, 'in/link'));
  symlinkSync('../out', join(root, 'in/escape'));
  symlinkSync('/dev/zero', join(root, 'in/device'));
  symlinkSync('..', join(root, 'in/up'));
  symlinkSync('../none', join(root, 'in/astray'));
  symlinkSync('astray', join(root, 'in/twice'));
  symlinkSync('gone', join(root, 'in/nowhere'));
  symlinkSync('loop', join(root, 'in/loop'));
  const places = new SecretPlaces({
    environment: { LOGIN_SECRET: 'open sesame', SECRET_EMPTY: '', STORE_KEY: 'ours' },
    variables: ['SECRET_*', '*_SECRET'],
    folders: [join(root, 'missing'), join(root, 'run')],
  });
  const file = (path: string) =>
    shown(
      places.find(
        { file: path.replace('ROOT', root) },
        join(root, 'in/deep/s.yaml'),
        join(root, 'in'),
      ),
    );
  const variable = (env: string) => shown(places.find({ env }, '', ''));
  return { root, places, file, variable };
}

function shown(found: FoundValue): string {
  return 'bytes' in found ? new TextDecoder().decode(found.bytes) : `! ${found.error}`;
}

const OUTSIDE = /^! the file .* may not be read: it is outside of the folder of resources/;

test('a file is found relative to that of the Secret, in the folder of resources or in one that is allowed', t => {
  const { file } = placesIn(t);
  assert.deepEqual(
    ['b', './b', '../a', '../link', '../../run/c', 'ROOT/run/c', 'ROOT/in/a'].map(file),
    [
      'content of in/deep/b',
      'content of in/deep/b',
      'content of in/a',
      'content of in/a',
      'content of run/c',
      'content of run/c',
      'content of in/a',
    ],
  );
});

test('no file is read elsewhere, by whatever path, and none is told apart from one that is not there', t => {
  const { file } = placesIn(t);
  const paths = [
    '../../out',
    '../escape',
    '../up/out',
    '/etc/passwd',
    '../../infix/d',
    '../../none',
    '../astray',
    '../astray/none',
    '../twice',
    '../up/none',
    '..',
    '../../run',
  ];
  for (const path of paths) assert.match(file(path), OUTSIDE, path);
});

test('what is no file with a value is said without its content', t => {
  const { file } = placesIn(t);
  assert.deepEqual(['none', '../empty', '../long', '.', '../up/in'].map(file), [
    '! the file none cannot be read: it does not exist, or its symbolic link leads nowhere',
    '! the file ../empty is empty',
    '! the file ../long has more than 1048576 bytes',
    '! the file . is not a regular file',
    '! the file ../up/in may not be read: it is outside of the folder of resources and of SECRET_FILES of the control plane',
  ]);
  assert.match(file('../device'), OUTSIDE);
  assert.match(file('../nowhere'), /its symbolic link leads nowhere$/);
  assert.match(file('../loop'), /^! the file ..\/loop cannot be read: /);
});

test('what every object has is no variable, even where all of them may be read', () => {
  const places = new SecretPlaces({ environment: { A: 'a' }, variables: ['*'], folders: [] });
  for (const env of ['constructor', 'toString', '__proto__'])
    assert.match(shown(places.find({ env }, '', '')), /is not set in the environment/);
  assert.equal(shown(places.find({ env: 'A' }, '', '')), 'a');
});

test('a variable is read when its name is allowed, and none of the gateway itself', t => {
  const { variable } = placesIn(t);
  assert.deepEqual(
    ['LOGIN_SECRET', 'SECRET_EMPTY', 'SECRET_NONE', 'STORE_KEY', '__proto__'].map(variable),
    [
      'open sesame',
      '! the variable SECRET_EMPTY is empty in the environment of the control plane',
      '! the variable SECRET_NONE is not set in the environment of the control plane',
      '! the variable STORE_KEY may not be read: SECRET_VARIABLES of the control plane allows SECRET_*, *_SECRET',
      '! the variable __proto__ may not be read: SECRET_VARIABLES of the control plane allows SECRET_*, *_SECRET',
    ],
  );
});

test('a file that changes, comes or goes is noticed, and one that was not read is not', t => {
  const { file, places, root } = placesIn(t);
  places.begin();
  assert.equal(places.hasFiles(), false);
  file('b');
  file('new');
  assert.deepEqual([places.hasFiles(), places.haveChanged()], [true, false]);
  writeFileSync(join(root, 'in/a'), 'other');
  assert.equal(places.haveChanged(), false);
  writeFileSync(join(root, 'in/deep/new'), 'other');
  assert.equal(places.haveChanged(), true);
  places.begin();
  file('b');
  rmSync(join(root, 'in/deep/b'));
  assert.equal(places.haveChanged(), true);
});
