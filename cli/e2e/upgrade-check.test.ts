import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { PRODUCT_VERSION } from '#files/product-version.ts';
import { folderOf, gateway } from '../testing/gateway.ts';

const HOST = `apiVersion: gateway.internal/v2
kind: Host
metadata: { name: site }
spec: { hostname: a.test }
`;

describe('gateway upgrade-check', () => {
  test('tells what changes since before there were releases, with 1', async t => {
    const folder = await folderOf(t, { 'host.yaml': HOST });
    const { code, stdout } = await gateway('upgrade-check', folder, '--state', folder);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^names-of-hosts, since 0\.1\.0\n {2}\S+host\.yaml:4 Host default\/site\n/,
    );
    assert.match(stdout, /\n1 change to \S+ concerns you\n$/);
  });

  test('takes the version that runs now from the state folder, and ends with 0 without a change', async t => {
    const mark = JSON.stringify({ format: 1, version: PRODUCT_VERSION });
    const folder = await folderOf(t, { 'host.yaml': HOST, 'version.json': mark });
    const file = join(folder, 'host.yaml');
    const ask = ['upgrade-check', file, '--state', folder, '--output', 'json'];
    const { code, stdout } = await gateway(...ask);
    assert.deepEqual([code, JSON.parse(stdout).changes], [0, []]);
    const older = await gateway(...ask, '--from', '0.0.9');
    assert.equal(JSON.parse(older.stdout).changes[0].id, 'names-of-hosts');
  });

  for (const [what, files, args, message] of [
    ['a file that is no YAML', { 'a.yaml': 'a: [' }, [], /a\.yaml:\d+: /],
    [
      'a file without a resource',
      { 'a.yaml': '# none\n' },
      [],
      /a\.yaml: there is no resource in it/,
    ],
    ['a version that is none', { 'a.yaml': HOST }, ['--from', 'latest'], /"latest" is no version/],
    ['a newer version', { 'a.yaml': HOST }, ['--from', '99.0.0'], /is newer than this one/],
    [
      'a state folder that is not there',
      { 'a.yaml': HOST },
      ['--state', '/nonexistent'],
      /there is no state folder \/nonexistent: correct --state, or leave it out/,
    ],
    [
      'a state folder in a newer format',
      { 'a.yaml': HOST, 'version.json': '{"format":2,"version":"9.0.0"}' },
      [],
      /start version 9\.0\.0 again/,
    ],
  ] as const)
    test(`ends with 2 for ${what}`, async t => {
      const folder = await folderOf(t, files);
      const file = join(folder, 'a.yaml');
      const { code, stderr } = await gateway('upgrade-check', file, '--state', folder, ...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
    });
});
