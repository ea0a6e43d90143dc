import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { folderOf, gateway } from '../testing/gateway.ts';

const COMMANDS = [
  'init',
  'up',
  'scale',
  'status',
  'validate',
  'explain',
  'diff',
  'import',
  'compile',
  'bootstrap',
  'completion',
];

describe('the gateway command', () => {
  test('shows its help and its version', async () => {
    const help = await gateway('--help');
    assert.equal(help.code, 0);
    for (const command of COMMANDS) assert.match(help.stdout, new RegExp(`^  ${command} `, 'm'));
    assert.deepEqual(await gateway('--version'), {
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: '',
    });
  });

  test('without a command shows its help, as a mistake', async () => {
    const { code, stdout, stderr } = await gateway();
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^Usage: gateway /);
  });

  for (const command of COMMANDS) {
    test(`shows the help of ${command}`, async () => {
      const { code, stdout, stderr } = await gateway(command, '--help');
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^Usage: gateway ${command} `));
    });
  }

  const mistakes = [
    [['stauts'], /^error: unknown command 'stauts'\n\(Did you mean status\?\)\n\(--help shows/],
    [['help', 'stauts'], /^error: unknown command 'stauts'\n\(Did you mean status\?\)/],
    [
      ['validate', 'x', '--jsn'],
      /^error: unknown option '--jsn'\n\(Did you mean --json\?\)\n\(--help shows/,
    ],
    [['toString'], /^error: unknown command 'toString'\n\(--help shows/],
    [['help', '__proto__'], /^error: unknown command '__proto__'\n\(--help shows/],
    [['validate'], /^error: missing required argument 'files'\n\(--help shows/],
    [
      ['compile', 'x'],
      /^error: required option '--node-group <group>' not specified\n\(--help shows/,
    ],
    [
      ['status', '--port-offset', 'far'],
      /'--port-offset <number>' argument 'far' is invalid\. want a number/,
    ],
    [
      ['up', '--state', ''],
      /^error: option '--state <folder>' is empty: give it a value, or leave it out\n/,
    ],
    [['up', '--resources', ' '], /^error: option '--resources <folder>' is empty/],
    [['scale', '2', '--state='], /^error: option '--state <folder>' is empty/],
    [['scale', ''], /^error: an argument is empty/],
    [['status', '--address', ''], /^error: option '--address <host:port>' is empty/],
    [['bootstrap', 'edge', '--tls-folder', ''], /^error: option '--tls-folder <path>' is empty/],
    [['compile', 'x', '--node-group', ''], /^error: option '--node-group <group>' is empty/],
    [['explain', 'GET', '/', '-H', ''], /^error: option '-H, --header <name: value>' is empty/],
    [
      ['explain', 'GET', '/', '--resources', 'x', ''],
      /^error: option '--resources <paths...>' is empty/,
    ],
    [['validate', 'x', ''], /^error: an argument is empty/],
  ] as const;
  for (const [args, message] of mistakes) {
    test(`refuses "${args.join(' ')}" and says what to do`, async () => {
      const { code, stdout, stderr } = await gateway(...args);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, message);
    });
  }

  test('says in a sentence that its output cannot be written', {
    skip: existsSync('/dev/full') ? false : 'needs /dev/full',
  }, async () => {
    const main = join(import.meta.dirname, '..', 'main.ts');
    const run = promisify(execFile)('sh', [
      '-c',
      '"$0" "$1" bootstrap edge > /dev/full',
      process.execPath,
      main,
    ]);
    await assert.rejects(run, {
      code: 1,
      stderr: /^gateway: Cannot write the output: ENOSPC.*\n$/,
    });
  });

  test('does not start on a state folder in which it cannot write, and says so', async t => {
    const folder = await folderOf(t, {});
    await mkdir(join(folder, 'up.lock'));
    const { code, stderr } = await gateway('up', '--state', folder);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^gateway: Cannot use the state folder .*: EISDIR.* Choose another with --state\n$/,
    );
  });

  test('says nothing when its reader has had enough', async t => {
    const mappings = Array.from({ length: 500 }, (_, n) => mapping(`m${n}`)).join('---\n');
    const folder = await folderOf(t, { 'many.yaml': mappings });
    const main = join(import.meta.dirname, '..', 'main.ts');
    const pipe = '"$0" "$1" compile --node-group edge "$2" | head -1';
    const run = promisify(execFile)('bash', [
      '-o',
      'pipefail',
      '-c',
      pipe,
      process.execPath,
      main,
      folder,
    ]);
    assert.deepEqual(await run, { stdout: 'node:\n', stderr: '' });
  });
});

function mapping(name: string): string {
  return `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: ${name} }
spec: { prefix: /${name}/, service: ${name} }
`;
}
