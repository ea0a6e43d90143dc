import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderOf, gateway } from '../testing/gateway.ts';

test('a new folder gets resources that are valid, and state that git ignores', async t => {
  const folder = join(await folderOf(t, {}), "Ada's new site");
  const { code, stdout } = await gateway('init', folder);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^wrote .*gateway\.yaml\nwrote .*\.gitignore\nNext: cd '.*Ada'\\''s new site' && npx tollwright up\n$/,
  );
  assert.deepEqual(readdirSync(folder), ['.gitignore', 'resources']);
  assert.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), '.gateway/\n');
  const { code: valid, stdout: said } = await gateway('validate', join(folder, 'resources'));
  assert.equal(valid, 0, said);
  const { code: routed } = await gateway('explain', 'GET', '/books', '--resources', folder);
  assert.equal(routed, 0);
});

test('a package that npx has run from a file is run so again', async t => {
  const folder = await folderOf(t, { 'a b.tgz': '' });
  const packages = `${folder}/a b.tgz\n\noidc-provider`;
  process.env.npm_config_package = packages;
  t.after(() => delete process.env.npm_config_package);
  const { stdout } = await gateway('init', folder);
  const next = `npx -p '${folder}/a b.tgz' -p oidc-provider tollwright up\n`;
  assert.ok(stdout.endsWith(`&& ${next}`), stdout);
});

test('what is there is kept, and a second time writes nothing', async t => {
  const folder = await folderOf(t, { '.gitignore': 'node_modules/' });
  mkdirSync(join(folder, 'resources'));
  writeFileSync(join(folder, 'resources', 'mine.yml'), '');
  const { stdout } = await gateway('init', folder);
  assert.match(stdout, /has resources already, which are kept\nwrote .*\.gitignore\n/);
  assert.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), 'node_modules/\n.gateway/\n');
  assert.match((await gateway('init', folder)).stdout, /are kept\nNext: /);
  assert.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), 'node_modules/\n.gateway/\n');
  assert.deepEqual(readdirSync(join(folder, 'resources')), ['mine.yml']);
});

test('resources in a folder of the folder are kept alone, too', async t => {
  const folder = await folderOf(t, {});
  mkdirSync(join(folder, 'resources', 'shop'), { recursive: true });
  writeFileSync(join(folder, 'resources', 'shop', 'mine.yaml'), '');
  assert.match((await gateway('init', folder)).stdout, /has resources already, which are kept\n/);
  assert.deepEqual(readdirSync(join(folder, 'resources')), ['shop']);
});

test('a folder that cannot be written is told', async t => {
  const folder = await folderOf(t, { file: '', resources: '' });
  for (const [target, message] of [
    [folder, /^gateway: \S+\/resources is a file\. Name a folder\n$/],
    [join(folder, 'file'), /^gateway: \S+\/file is a file\. Name a folder\n$/],
    ['/proc/x', /^gateway: cannot make the folder \/proc\/x \(ENOENT\)\. Name one that you may /],
  ] as const) {
    const { code, stderr } = await gateway('init', target);
    assert.equal(code, 1);
    assert.match(stderr, message);
  }
});
