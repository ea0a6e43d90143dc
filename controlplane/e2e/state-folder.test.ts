import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startControlPlane } from '#envoy/e2e/control-plane-process.ts';

const MAIN = join(import.meta.dirname, '..', 'main.ts');

test('a state folder has one control plane, and the next one after it has ended or was killed', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'state-folder-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [resources, state] = [join(folder, 'resources'), join(folder, 'state')];
  mkdirSync(resources);
  const lock = join(state, 'controlplane.lock');
  const start = () => startControlPlane({ resources, state, edge: '127.0.0.1:0' });

  const first = await start();
  t.after(first.stop);
  const [XDS_ADDRESS, HTTP_ADDRESS] = ['127.0.0.1:0', '127.0.0.1:0'];
  const second = spawn(process.execPath, [MAIN], {
    env: { ...process.env, RESOURCES: resources, STATE: state, XDS_ADDRESS, HTTP_ADDRESS },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => second.kill());
  const ended = once(second, 'exit');
  const [said] = await Promise.race([once(second.stderr, 'data'), once(second.stdout, 'data')]);
  assert.equal(
    String(said),
    `controlplane: STATE: another control plane already runs on the folder ${state} (pid ${first.pid}): stop it, or give this one a folder of its own\n`,
  );
  assert.deepEqual(await ended, [1, null]);

  await first.kill();
  assert.ok(existsSync(lock), 'a killed process leaves its lock');
  const next = await start();
  t.after(next.stop);
  await next.stop();
  assert.ok(!existsSync(lock), 'one that has ended leaves none');
});
