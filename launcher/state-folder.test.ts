import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { controlSocket, makeStateFolder } from './state-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'state-'));
after(() => rmSync(folder, { recursive: true }));

async function canListen(socket: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(socket, resolve),
  );
  server.close();
}

describe('a state folder', () => {
  test('is its owner’s alone', () => {
    const { path } = makeStateFolder(join(folder, 'new'));
    assert.equal(statSync(path).mode & 0o777, 0o700);
  });

  for (const depth of [1, 12]) {
    test(`${depth} folders deep has room for sockets, which clients find`, async () => {
      const path = join(folder, ...Array<string>(depth).fill('a-folder-name'));
      const { sockets } = makeStateFolder(path);
      assert.equal(controlSocket(path), join(sockets, 'up.sock'));
      await canListen(join(sockets, 'user-service-40.sock'));
      makeStateFolder(path);
      rmSync(sockets, { recursive: true });
    });
  }

  test('that cannot be made is refused by its name, the reason and what to do', () => {
    writeFileSync(join(folder, 'file'), '');
    assert.throws(
      () => makeStateFolder(join(folder, 'file', 'state')),
      /^Error: Cannot use the state folder .*\/file\/state: ENOTDIR.* Choose another with --state$/,
    );
  });

  test('where the system allows none is refused', { skip: process.platform !== 'linux' }, () => {
    assert.throws(
      () => makeStateFolder('/proc/state'),
      /^Error: Cannot use the state folder \/proc\/state: ENOENT/,
    );
  });
});
