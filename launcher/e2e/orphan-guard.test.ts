import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../eventually.ts';
import { isAlive } from '../testing/is-alive.ts';

/**
 * Starts a process that starts a child under the guard, prints its id, and is killed. Returns the
 * child's id.
 */
async function killedParent(guard: 'orphanGuard' | 'reaperGuard'): Promise<number> {
  const script = `import { spawn } from 'node:child_process';
    import { ${guard} } from ${JSON.stringify(join(import.meta.dirname, '..', 'orphan-guard.ts'))};
    const guard = ${guard}();
    const [file, ...args] = guard.wrap(['sleep', '600']);
    const child = spawn(file, args, { detached: true, stdio: 'ignore' });
    guard.watch(child.pid);
    console.log(child.pid);
    setInterval(() => {}, 1e6);`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [pid] = await once(parent.stdout, 'data');
  assert.ok(isAlive(Number(pid)));
  parent.kill('SIGKILL');
  return Number(pid);
}

describe('when the supervisor is killed outright its children end', () => {
  for (const guard of ['orphanGuard', 'reaperGuard'] as const) {
    test(`by ${guard === 'orphanGuard' ? 'the guard of this system' : 'the reaper'}`, async () => {
      const pid = await killedParent(guard);
      assert.ok(await eventually(async () => !isAlive(pid), 30_000));
    });
  }
});
