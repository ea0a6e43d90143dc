import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orExit } from './exit.ts';

/** What the operator reads when `read` fails. */
async function sentence(read: () => Promise<never>, variable?: string): Promise<string> {
  const exit = (message: string): never => {
    throw new Error(message);
  };
  return orExit(exit, read, variable).catch((error: Error) => error.message);
}

test('a process that cannot go on says why, and by which variable', async () => {
  const read = () => Promise.reject(new Error('no such folder'));
  assert.equal(await sentence(read), 'no such folder');
  assert.equal(await sentence(read, 'STATE'), 'STATE: no such folder');
  assert.equal(await orExit(assert.fail, () => 1), 1);
});
