import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startControlPlane } from '../testing/control-plane.ts';
import { folderOf, gateway } from '../testing/gateway.ts';

const ONE = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: one }
spec: { prefix: /one/, service: one }
`;
const TWO = ONE.replaceAll('one', 'two');
const POLICY = `---
apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: login }
spec: { JWT: { jwksURI: 'https://idp.test/keys' } }
---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: site }
spec: { rules: [{ path: /one/*, filters: [{ name: login }] }] }
`;
const LEFT_OUT = `apiVersion: v1
kind: List
items:
- { apiVersion: gateway.internal/v2, kind: Mapping }
- apiVersion: gateway.internal/v2
  kind: Filter
  metadata: { name: login }
  spec: { gateway_id: prod, OAuth2: { secret: not-to-be-seen } }
`;

const SECRET = `apiVersion: v1
kind: Secret
metadata: { name: s }
stringData: { k: hunter2 }
`;

describe('gateway diff', () => {
  test('tells what a file adds to the running gateway, and what a folder removes from it', async t => {
    const address = await startControlPlane(t, await folderOf(t, { 'a.yaml': ONE + POLICY }));
    const folder = await folderOf(t, { 'b.yaml': `${ONE}---\n${TWO}` });
    const file = join(folder, 'b.yaml');
    const added = await gateway('diff', file, '--address', address);
    assert.deepEqual(
      [added.code, added.stdout.replaceAll(file, 'b.yaml').split('\n'), added.stderr],
      [
        1,
        [
          'Routes',
          '  + Mapping default/two (b.yaml:6): * /two/* to two:80, no Filter, no limit',
          '1 changed route',
          '',
        ],
        '',
      ],
    );
    const whole = await gateway('diff', folder, '--address', address);
    assert.equal(whole.code, 1);
    assert.deepEqual(whole.stdout.split('\n').slice(0, 5), [
      'Access',
      '  ! * /one/*: LOSES Filter default/login, then no Filter',
      '      by spec.rules[0] of FilterPolicy/default/site, then by no rule',
      '      of Mapping default/one',
      'Routes',
    ]);
    const removed = await gateway('diff', '--delete', 'Mapping/default/one', '--address', address);
    assert.match(removed.stdout, /^ {2}- Mapping default\/one /m);
    const unknown = await gateway('diff', '--delete', 'Mapping/default/on', '--address', address);
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /did you mean `Mapping\/default\/one`/);
    const both = await gateway(
      'diff',
      file,
      '--delete',
      'Mapping/default/one',
      '--address',
      address,
    );
    assert.deepEqual([both.code, both.stdout], [2, '']);
    assert.match(both.stderr, /^gateway: Mapping\/default\/one \(.*b\.yaml:1\) cannot be both /);
    const same = await gateway('diff', '--envoy', '--address', address, join(folder, '..', 'none'));
    assert.deepEqual([same.code, same.stdout], [2, '']);
  });

  test('gives 0 without a difference, and 2 for a change with an error', async t => {
    const folder = await folderOf(t, { 'a.yaml': ONE });
    const address = await startControlPlane(t, folder);
    assert.deepEqual(await gateway('diff', folder, '--envoy', '--address', address), {
      code: 0,
      stdout: 'no difference\n',
      stderr: '',
    });
    const wrong = await folderOf(t, { 'a.yaml': ONE.replace('service: one', 'service: ftp://x') });
    const { code, stdout } = await gateway('diff', wrong, '--address', address);
    assert.equal(code, 2);
    assert.match(stdout, /Problems that it brings\n {2}error: Mapping default\/one \(.*a\.yaml:4/);
  });

  test('compares files with files, and shows the configuration of Envoy as a unified diff', async t => {
    const [old, next] = [
      await folderOf(t, { 'a.yaml': ONE }),
      await folderOf(t, { 'b.yaml': TWO }),
    ];
    const { code, stdout } = await gateway('diff', next, '--resources', old, '--envoy');
    assert.equal(code, 1);
    assert.match(stdout, /^--- edge\/Cluster one\n\+\+\+ \/dev\/null\n@@ -1,\d+ \+0,0 @@\n-/m);
    assert.match(stdout, /^- {4}match:\n- {6}prefix: \/one\/\n|prefix: \/one\/$/m);
    const json = await gateway('diff', next, '--resources', old, '--json');
    const { routes } = JSON.parse(json.stdout);
    assert.deepEqual(
      routes.map(({ change, id }: { change: string; id: string }) => [change, id]),
      [
        ['removed', 'Mapping/default/one'],
        ['added', 'Mapping/default/two'],
      ],
    );
  });

  test('wrong usage ends with 2, since 1 means that something differs', async () => {
    assert.equal((await gateway('diff')).code, 2);
    assert.equal((await gateway('diff', '--nope')).code, 2);
    assert.equal((await gateway('diff', '')).code, 2);
    assert.equal((await gateway('diff', 'x.yaml', '--address', '127.0.0.1:1')).code, 2);
    assert.equal((await gateway('diff', '--help')).code, 0);
    const { stderr } = await gateway('diff', '--resources', 'main', 'new.yaml');
    assert.match(
      stderr,
      /\. All paths after --resources are its own, so name the others before it$/m,
    );
  });

  test('sends no secret to another machine', async t => {
    const folder = await folderOf(t, { 'a.yaml': SECRET });
    const { code, stderr } = await gateway('diff', folder, '--address', '192.0.2.1:8877');
    assert.equal(code, 2);
    assert.match(
      stderr,
      /a\.yaml:1: Secret default\/s holds a secret, which would go to 192\.0\.2\.1/,
    );
  });

  test('sends no secret of another gateway to another machine', async t => {
    const folder = await folderOf(t, { 'a.yaml': LEFT_OUT });
    const { code, stderr } = await gateway('diff', folder, '--address', '192.0.2.1:8877');
    assert.equal(code, 2);
    assert.match(stderr, /a\.yaml: a Filter for the gateway prod holds a secret/);
  });

  test('says that the control plane cannot take so much', async t => {
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(413).end());
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const folder = await folderOf(t, { 'a.yaml': ONE });
    const { code, stderr } = await gateway('diff', folder, '--address', address);
    assert.equal(code, 2);
    assert.match(stderr, /answers 413: it takes at most 16 MiB/);
  });
});
