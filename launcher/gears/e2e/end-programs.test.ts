import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { eventually } from '../../eventually.ts';
import { isAlive } from '../../testing/is-alive.ts';
import { endPrograms } from '../end-programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'end-programs-'));
after(() => rmSync(folder, { recursive: true }));

/** Starts a program in a group of its own, as an orphan. Returns its id. */
async function orphan(TMPDIR: string): Promise<number> {
  const script = `const { spawn } = require('node:child_process');
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    console.log(child.pid);
    child.unref();`;
  const parent = spawn(process.execPath, ['-e', script], {
    env: { ...process.env, TMPDIR },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [pid] = await once(parent.stdout, 'data');
  await once(parent, 'exit');
  return Number(pid);
}

const skip = process.platform !== 'linux';

test('what a run has started ends with it, and nothing else', { skip }, async t => {
  const own = [await orphan(folder), await orphan(join(folder, 'below'))];
  const other = await orphan(`${folder}-2`);
  t.after(() => process.kill(other, 'SIGKILL'));
  assert.ok([...own, other].every(isAlive));
  endPrograms(folder);
  assert.ok(await eventually(async () => !own.some(isAlive), 30_000));
  assert.ok(isAlive(other));
});
