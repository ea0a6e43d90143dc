import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startService } from '../testing/service-process.ts';

test('a bad variable is one line that names it', async () => {
  await assert.rejects(startService({ PORT: 'http' }), {
    message: 'user-service: PORT: "http" is not a port, use a number from 0 to 65535\n',
  });
});

test('a port in use is named', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'user-service-main-'));
  t.after(() => rm(folder, { recursive: true }));
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const address = other.address();
  assert.ok(address !== null && typeof address === 'object');
  await assert.rejects(
    startService({
      PORT: String(address.port),
      DATABASE_FILE: join(folder, 'users.sqlite'),
      LOG_LEVEL: 'silent',
    }),
    {
      message: new RegExp(
        `HOST, PORT: cannot listen on 127.0.0.1 port ${address.port}: .*EADDRINUSE`,
      ),
    },
  );
});
