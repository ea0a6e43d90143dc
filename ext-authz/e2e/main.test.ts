import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

/** Nothing listens there. */
const NOWHERE = '127.0.0.1:1';

/** Returns what the service has logged about store keys when it looks for its Redis. */
async function told(environment: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'main.ts')], {
    env: {
      ...process.env,
      WORKERS: '1',
      ADDRESS: '127.0.0.1:0',
      XDS_ADDRESS: NOWHERE,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const messages: string[] = [];
  try {
    for await (const line of createInterface(child.stdout)) {
      const { msg } = JSON.parse(line);
      if (msg === 'Redis is not connected')
        return messages.filter(message => message.includes('STORE_KEY'));
      messages.push(msg);
    }
    throw new Error('ext-authz ended');
  } finally {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

test('a store key that is made beside a Redis is told of, and one that is there or given is not', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'ext-authz-main-'));
  t.after(() => rm(folder, { recursive: true }));
  const environment = { REDIS_URL: `redis://${NOWHERE}`, STATE: join(folder, 'state') };
  const given = { ...environment, STATE: join(folder, 'other'), STORE_KEY: 'ab'.repeat(32) };
  const [first = [], other] = await Promise.all([told(environment), told(given)]);
  assert.match(first.join(), /^REDIS_URL is set without STORE_KEY/);
  assert.deepEqual(other, []);
  assert.deepEqual(await told(environment), []);
});
