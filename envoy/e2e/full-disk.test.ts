import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startLoad } from './load.ts';
import { type RawAnswer, request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const BLOCK = Buffer.alloc(4096, '.');

/** Mounts a file system of 8 MiB on the folder. */
function mount(folder: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder], { stdio: 'pipe' });
}

function unmount(folder: string): void {
  execFileSync('umount', [folder], { stdio: 'pipe' });
}

/** Returns why there can be no small file system here, or false when there can. */
function whyNot(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'mounting a tmpfs needs root on Linux';
  const folder = mkdtempSync(join(tmpdir(), 'e2e-mount-'));
  try {
    mount(folder);
    unmount(folder);
    return false;
  } catch (error) {
    return `no tmpfs can be mounted here: ${error instanceof Error ? error.message.trim() : error}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Takes all the space that is left. */
function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  try {
    for (;;) writeSync(descriptor, BLOCK);
  } catch (error) {
    assert.match(String(error), /ENOSPC/);
  } finally {
    closeSync(descriptor);
  }
}

function mapping(prefix: string, port: number): string {
  return `
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: edited }
spec: { prefix: ${prefix}, service: "127.0.0.1:${port}" }
`;
}

describe('when the disk of the state is full', { skip: whyNot() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'e2e-full-'));
  const state = join(folder, 'state');
  const ballast = join(state, 'ballast');
  let system: System;
  let upstream: Upstream;

  before(async () => {
    mkdirSync(state);
    mount(state);
    upstream = await startUpstream('edited');
    system = await startSystem({ instances: 2, state });
    assert.equal((await put('early', 'Early Bird')).status, 201);
    fill(ballast);
  });
  after(async () => {
    await system.stop();
    await upstream.close();
    unmount(state);
    rmSync(folder, { recursive: true, force: true });
  });

  function put(name: string, fullname: string): Promise<RawAnswer> {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ fullname, password: 'secret' });
    return request(system.edge, `/user/${name}`, { method: 'PUT', headers, body });
  }

  const answered = (path: string) =>
    until(
      async () => (await request(system.edge, path)).status === 200 || undefined,
      30_000,
      `GET ${path}`,
    );
  const stateProblem = (kind: string) => kind === 'State';

  test('an edit is in effect all the same, and the status says what cannot be kept', async t => {
    const load = startLoad({
      base: system.edge,
      path: '/user/health',
      connections: 4,
      perSecond: 100,
    });
    system.write('edited.yaml', mapping('/full', upstream.port));
    await answered('/full');
    const { problems, ready } = await system.statusWhen(({ problems }) =>
      problems.some(({ kind }) => stateProblem(kind)),
    );
    const [problem] = problems.filter(({ kind }) => stateProblem(kind));
    assert.match(problem?.message ?? '', /cannot keep the last good resources: ENOSPC/);
    assert.equal(ready, true);
    const { failures, requests } = await load.stop();
    t.diagnostic(`${requests} requests, ${failures.length} failed`);
    assert.deepEqual(failures.slice(0, 5), []);
  });

  test('a new user is refused as "not now", and those that are there are read', async () => {
    const refused = await put('late', 'x'.repeat(256));
    const { error, ok } = JSON.parse(refused.body) as { error: string; ok: boolean };
    assert.deepEqual([refused.status, ok], [503, false], refused.body);
    assert.notEqual(error, '');
    await answered('/user/early');
  });

  test('all is as before when there is space again', async () => {
    rmSync(ballast);
    assert.equal((await put('late', 'Late Riser')).status, 201);
    await answered('/user/early');
    system.write('edited.yaml', mapping('/space', upstream.port));
    await answered('/space');
    await system.statusWhen(({ problems }) => problems.length === 0);
  });
});
