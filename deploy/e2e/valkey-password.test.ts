import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { clusterCommands } from '../testing/install-commands.ts';

/** What the page runs in the pod of Valkey, with the new password as standard input. */
function inPod(): readonly string[] {
  return clusterCommands('docs/how-to/rotate-keys.md', 'Password of Valkey').flatMap(line => {
    const [, script] = /deployment\/valkey -- sh -c '(.+)' < valkey-password$/.exec(line) ?? [];
    return script === undefined ? [] : [script];
  });
}

test('the page about keys lets two passwords of Valkey count, and then the new one alone', {
  skip: whyNoRedis() ?? false,
}, async t => {
  const folder = mkdtempSync(join(tmpdir(), 'valkey-password-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const mounted = join(folder, 'password');
  writeFileSync(mounted, 'old');
  const redis = await startRedis({ args: ['--requirepass', 'old'] });
  t.after(() => redis.remove());
  const cli = join(folder, 'valkey-cli');
  writeFileSync(cli, `#!/bin/sh\nexec redis-cli -p ${redis.port} "$@"\n`);
  chmodSync(cli, 0o755);
  const PATH = `${folder}:${process.env.PATH}`;
  const run = (script: string) =>
    execFileSync('sh', ['-c', script.replace('/run/valkey/password', mounted)], {
      encoding: 'utf8',
      env: { ...process.env, PATH },
      input: 'new',
    }).trim();
  const counting = () =>
    ['old', 'new'].filter(
      password => run(`REDISCLI_AUTH=${password} valkey-cli ping 2>&1`) === 'PONG',
    );

  const [begin = '', end = ''] = inPod();
  assert.deepEqual(counting(), ['old']);
  assert.equal(run(begin), 'OK');
  assert.deepEqual(counting(), ['old', 'new']);
  writeFileSync(mounted, 'new');
  assert.equal(run(end), 'OK');
  assert.deepEqual(counting(), ['new']);
});
