import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { changedStyle } from './changed-style.ts';

const RULES = 'biome.json';
const PACKAGE = 'package.json';
const BIOME = 'node_modules/@biomejs/biome/package.json';

/** A folder with sources that Biome has passed. */
function passedFolder(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'changed-style-'));
  t.after(() => rmSync(root, { recursive: true }));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  const look = () => changedStyle(root, join(root, '.gateway/types/style.json'));
  for (const file of [RULES, PACKAGE, BIOME, 'a.ts', 'b/c.ts', 'b/d.cjs', 'readme.md'])
    write(file, '1');
  look().passed();
  return { root, write, look };
}

describe('the style of sources is checked', () => {
  test('of none that passed', t => {
    assert.deepEqual(passedFolder(t).look().files, []);
  });

  test('of those that have changed, and of new ones', t => {
    const { look, root, write } = passedFolder(t);
    write('b/c.ts', '2');
    write('b/new.json', '{}');
    write('.devcontainer/new.json', '{}');
    write('readme.md', '2');
    rmSync(join(root, 'a.ts'));
    assert.deepEqual(look().files, ['.devcontainer/new.json', 'b/c.ts', 'b/new.json']);
  });

  test('again until they pass', t => {
    const { look, write } = passedFolder(t);
    write('a.ts', '2');
    const first = look();
    assert.deepEqual(look().files, ['a.ts']);
    write('a.ts', '3');
    first.passed();
    assert.deepEqual(look().files, ['a.ts'], 'it passed with its former text');
    look().passed();
    assert.deepEqual(look().files, []);
  });

  for (const [what, file] of [
    ['a rule', RULES],
    ['a dependency', PACKAGE],
    ['Biome', BIOME],
  ] as const)
    test(`of all when ${what} has changed`, t => {
      const { look, write } = passedFolder(t);
      write(file, '2');
      assert.equal(look().files, undefined);
    });

  test('of all when very many have changed', t => {
    const { look, write } = passedFolder(t);
    for (let at = 0; at <= 500; at += 1) write(`many/${at}.ts`, '1');
    assert.equal(look().files, undefined);
  });

  test('of all when nothing is known of the last check', t => {
    const { look, root } = passedFolder(t);
    writeFileSync(join(root, '.gateway/types/style.json'), 'cut o');
    assert.equal(look().files, undefined);
  });

  test('but not of what others have made', t => {
    const { look, write } = passedFolder(t);
    for (const folder of ['node_modules/x', '.gateway/x', 'dist']) write(`${folder}/a.ts`, '1');
    assert.deepEqual(look().files, []);
  });
});
