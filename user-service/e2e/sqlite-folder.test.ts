import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { startService } from '../testing/service-process.ts';

test('where the folder of the file cannot be made, as below /proc, the instance is healthy', {
  skip: existsSync('/proc/self') ? false : 'needs /proc',
}, async t => {
  const service = await startService({ DATABASE_FILE: '/proc/none/below/users.sqlite' });
  t.after(service.stop);
  assert.equal((await service.send('GET', '/user/health')).status, 200);
  assert.equal((await service.send('GET', '/user/ada')).status, 503);
});
