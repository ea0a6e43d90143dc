import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { acquireLock, lockHolder } from '../lock.cjs';

const folder = mkdtempSync(join(tmpdir(), 'lock-'));
after(() => rmSync(folder, { recursive: true }));

/**
 * Starts another process that takes the lock and prints the result. It ends at the end of its
 * input.
 */
async function another(file: string): Promise<{ got: string; process: ChildProcess }> {
  const script = `const { acquireLock } = require(${JSON.stringify(join(import.meta.dirname, '..', 'lock.cjs'))});
    process.stdout.write(String(acquireLock(${JSON.stringify(file)}).holder ?? 'lock'));
    process.stdin.resume().on('end', () => process.exit());`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [got] = await once(child.stdout, 'data');
  return { got: String(got), process: child };
}

async function end({ process: child }: { process: ChildProcess }): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('a lock', () => {
  test('is held by one process at a time, and others learn by which', async () => {
    const file = join(folder, 'one');
    const holder = await another(file);
    assert.equal(holder.got, 'lock');
    assert.deepEqual(acquireLock(file), { holder: holder.process.pid });
    assert.equal(lockHolder(file), holder.process.pid);
    await end(holder);
  });

  test('of a process that is gone is taken over', async () => {
    const file = join(folder, 'stale');
    await end(await another(file));
    const lock = acquireLock(file);
    assert.equal(lock.holder, undefined);
    assert.equal(lockHolder(file), process.pid);
  });

  test('of a process whose id another one has since is taken over', () => {
    const file = join(folder, 'reused');
    writeFileSync(file, '1 12345678901\n');
    assert.equal(acquireLock(file).holder, undefined);
  });

  test('that is stale is taken over by one of many', async () => {
    const file = join(folder, 'race');
    writeFileSync(file, '999999999 1\n');
    const processes = await Promise.all(Array.from({ length: 8 }, () => another(file)));
    assert.equal(processes.filter(({ got }) => got === 'lock').length, 1);
    await Promise.all(processes.map(end));
  });

  test('leaves nothing when it is released', () => {
    const file = join(folder, 'own', 'lock');
    const lock = acquireLock(file);
    assert.match(readFileSync(file, 'utf8'), new RegExp(`^${process.pid} `));
    assert.ok('release' in lock);
    lock.release();
    assert.deepEqual(readdirSync(join(folder, 'own')), []);
    assert.equal(lockHolder(file), undefined);
  });
});
