import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startService } from '../testing/service-process.ts';
import { ada } from '../testing/services.ts';

test('of a burst of logins as many are answered as may wait, in bounded memory, and health is answered meanwhile', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'user-service-burst-'));
  const service = await startService({ DATABASE_FILE: join(folder, 'users.sqlite') });
  t.after(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });
  await service.sendJson('PUT', '/user/ada', ada);

  const statuses: number[] = [];
  const burst = Array.from({ length: 400 }, async () => {
    const { status } = await service.sendJson('POST', '/user/ada/login', ada);
    statuses.push(status);
    return status;
  });
  const first = await Promise.race(burst); // the first is answered, the others wait or are refused
  assert.ok([200, 503].includes(first));
  assert.equal((await service.send('GET', '/user/health')).status, 200);
  const before = statuses.filter(status => status === 200).length;
  await Promise.all(burst);
  assert.deepEqual([...new Set(statuses)].sort(), [200, 503]);
  assert.ok(statuses.filter(status => status === 200).length >= 256);
  assert.ok(before < 64, `health was answered after ${before} logins`);
  assert.ok((await peakMegabytes(service.pid)) < 400);
});

/**
 * Returns the most memory that the process ever had, from Linux's /proc. Elsewhere it is unknown,
 * and 0.
 */
async function peakMegabytes(pid: number): Promise<number> {
  if (process.platform !== 'linux') return 0;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}
