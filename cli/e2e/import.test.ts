import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { folderOf, gateway } from '../testing/gateway.ts';

const INGRESS = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop
  annotations:
    nginx.ingress.kubernetes.io/proxy-body-size: 8m
spec:
  rules:
  - host: shop.example.com
    http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: web, port: { number: 80 } } } }] }
`;

const PLAIN = INGRESS.replace(/ {2}annotations:\n.*\n/, '');

describe('gateway import', () => {
  test('prints documents that validate accepts, and tells what is lost', async t => {
    const folder = await folderOf(t, { 'shop.yaml': INGRESS });
    const { code, stderr, stdout } = await gateway('import', folder);
    assert.equal(code, 0);
    assert.match(
      stderr,
      /^dropped: Ingress default\/shop \(.*shop\.yaml:6, nginx\.ingress\.kubernetes\.io\/proxy-body-size\): .*\n2 documents, 0 closed, 1 dropped, 0 changed\n$/,
    );
    const imported = await folderOf(t, { 'imported.yaml': stdout });
    const validated = await gateway('validate', imported);
    assert.deepEqual(validated, { code: 0, stdout: '2 resources good, 0 problems\n', stderr: '' });
  });

  test('writes a file for each kind into a folder', async t => {
    const folder = await folderOf(t, { 'shop.yaml': PLAIN });
    const output = join(folder, 'new', 'resources');
    const { code, stdout } = await gateway('import', join(folder, 'shop.yaml'), '--output', output);
    assert.deepEqual([code, stdout], [0, '']);
    assert.deepEqual((await readdir(output)).sort(), ['host.yaml', 'mapping.yaml']);
    assert.match(await readFile(join(output, 'mapping.yaml'), 'utf8'), /^ {2}name: shop-1$/m);
  });

  test('tells which folder cannot be made', async t => {
    const file = join(await folderOf(t, { 'shop.yaml': PLAIN }), 'shop.yaml');
    for (const [output, message] of [
      [file, /^gateway: \S+\/shop\.yaml is a file\. Name a folder\n$/],
      ['/proc/x', /^gateway: cannot make the folder \/proc\/x \(ENOENT\)\. Name one that you may /],
    ] as const) {
      const { code, stderr } = await gateway('import', file, '--output', output);
      assert.equal(code, 1);
      assert.match(stderr, message);
    }
  });

  test('reads the standard input', async () => {
    const { code, stdout } = await withInput(PLAIN, 'import', '-');
    assert.equal(code, 0);
    assert.match(stdout, /^kind: Mapping$/m);
  });

  test('with --strict exits with 2 when something is lost, and writes all the same', async t => {
    const folder = await folderOf(t, { 'shop.yaml': INGRESS });
    const { code, stdout } = await gateway('import', folder, '--strict');
    assert.equal(code, 2);
    assert.match(stdout, /^kind: Mapping$/m);
    const plain = await folderOf(t, { 'shop.yaml': PLAIN });
    assert.equal((await gateway('import', plain, '--strict')).code, 0);
  });

  test('reads the Ingresses of one class', async t => {
    const classed = PLAIN.replace('spec:\n', 'spec:\n  ingressClassName: internal\n');
    const folder = await folderOf(t, { 'shop.yaml': classed });
    assert.match((await gateway('import', folder)).stderr, /^dropped: .*"internal"/);
    const { stderr } = await gateway('import', folder, '--ingress-class', 'internal');
    assert.equal(stderr, '2 documents, 0 closed, 0 dropped, 0 changed\n');
  });

  const FAILING: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    [
      'a part cannot be read',
      `${PLAIN}---\na: [`,
      /^gateway: .*shop\.yaml:10: Cannot read this YAML/,
    ],
    [
      'there is nothing',
      'apiVersion: v1\nkind: Service\nmetadata: { name: a }\n',
      /nothing to import/,
    ],
  ];
  for (const [what, text, message] of FAILING)
    test(`fails and prints nothing when ${what}`, async t => {
      const folder = await folderOf(t, { 'shop.yaml': text });
      const { code, stderr, stdout } = await gateway('import', folder);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, message);
    });
});

function withInput(input: string, ...args: readonly string[]) {
  return new Promise<{ readonly code: number; readonly stdout: string }>(resolve => {
    const main = join(import.meta.dirname, '..', 'main.ts');
    const child = execFile(process.execPath, [main, ...args], (error, stdout) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout }),
    );
    child.stdin?.end(input);
  });
}
