import assert from 'node:assert/strict';
import cluster from 'node:cluster';
import { type TestContext, test } from 'node:test';
import { SupervisedWorker } from '../supervised-worker.ts';

/** Returns how the first process of a worker ends. */
async function firstEnd(t: TestContext): Promise<readonly [how: number | string, again: number]> {
  const { promise, resolve } = Promise.withResolvers<readonly [number | string, number]>();
  const worker = new SupervisedWorker(1, {
    begun: () => () => {},
    changed: () => {},
    ended: (_, how, againInMs) => resolve([how, againInMs]),
  });
  t.after(() => worker.stop());
  return promise;
}

test('a worker that the system does not start is started again later', async t => {
  cluster.setupPrimary({ cwd: '/there/is/no/such/folder' });
  t.after(() => cluster.setupPrimary({ cwd: process.cwd() }));
  const [how, again] = await firstEnd(t);
  assert.match(String(how), /^an error: spawn .* ENOENT$/);
  assert.ok(again > 0);
});

test('so is one for which Node throws the error of the system', async t => {
  // Linux takes 128 KiB for one variable.
  process.env.TOO_LONG = 'x'.repeat(256 * 1024);
  t.after(() => delete process.env.TOO_LONG);
  const [how, again] = await firstEnd(t);
  assert.match(String(how), /^an error: spawn E2BIG$/);
  assert.ok(again > 0);
});
