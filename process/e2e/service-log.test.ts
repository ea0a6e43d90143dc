import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const MAIN = join(import.meta.dirname, '..', 'testing', 'sample-service.ts');
/** Each write to it fails as on a disk without space. */
const FULL = '/dev/full';

describe('a service whose log is on a full disk', {
  skip: existsSync(FULL) ? false : `no ${FULL} here`,
}, () => {
  for (const workers of ['1', '2'])
    test(`of ${workers} processes gets ready, and ends when it is told to`, async t => {
      const output = openSync(FULL, 'w');
      const child = spawn(process.execPath, [MAIN], {
        env: { ...process.env, WORKERS: workers },
        stdio: ['ignore', output, 'pipe', 'ipc'],
      });
      closeSync(output);
      t.after(() => child.kill('SIGKILL'));
      const complaint = child.stderr?.toArray();
      const ended = once(child, 'exit');
      child.on('message', (message: { readonly ready?: true }) => {
        if (message.ready) child.kill('SIGTERM');
      });
      assert.deepEqual(await ended, [0, null], (await complaint)?.join(''));
    });
});
