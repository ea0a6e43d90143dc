import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { changedTests } from '../changed-tests.ts';

const TESTS = ['a.test.ts', 'b.test.ts'];

const folders: string[] = [];
after(() => folders.forEach(folder => void rmSync(folder, { recursive: true })));

let root: string;
const git = (...args: readonly string[]) => {
  const as = ['-c', 'user.name=t', '-c', 'user.email=t@a.test', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...as, ...args], { cwd: root, encoding: 'utf8', stdio: 'pipe' });
};
const write = (file: string, text: string) => writeFileSync(join(root, file), text);
const commit = () => {
  git('add', '-A');
  git('commit', '-qm', 'x');
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'changed-'));
  folders.push(root);
  git('init', '-qb', 'main');
  write('a.ts', '');
  write('b.ts', '');
  write('a.test.ts', "import './a.ts';");
  write('b.test.ts', "import './b.ts';");
  commit();
});

describe('the tests that a change can reach', () => {
  const changed = (base?: string) => changedTests(root, TESTS, base);

  test('are none without a change', () => {
    assert.deepEqual(changed(), []);
  });

  test('are those of lint/ after every change, because they read all sources', () => {
    write('a.ts', '1');
    const tests = [...TESTS, 'lint/c.test.ts'];
    assert.deepEqual(changedTests(root, tests, undefined), ['a.test.ts', 'lint/c.test.ts']);
  });

  test('are of what is not committed, where no branch is followed', () => {
    write('a.ts', '1');
    assert.deepEqual(changed(), ['a.test.ts']);
  });

  test('are of what is new, staged or deleted too', () => {
    write('fresh.ts', '');
    write('b.test.ts', "import './fresh.ts';");
    git('add', 'b.test.ts');
    rmSync(join(root, 'a.ts'));
    assert.deepEqual(changed(), TESTS);
  });

  test('are of all since the branch left the one that it follows', () => {
    git('branch', 'other');
    git('checkout', '-q', '--track', '-b', 'mine', 'other');
    write('a.ts', '1');
    commit();
    assert.deepEqual(changed(), ['a.test.ts']);
    assert.deepEqual(changed('HEAD'), []);
  });

  test('are all when the dependencies change', () => {
    write('package-lock.json', '{}');
    assert.deepEqual(changed(), TESTS);
  });

  test('are not guessed where git does not know the base', () => {
    assert.throws(
      () => changed('nowhere'),
      /^Error: git does not know "nowhere" here: name a commit/,
    );
    assert.throws(() => changed('--output=x'), /^Error: git does not know "--output=x"/);
  });
});
