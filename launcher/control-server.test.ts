import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { serveControl } from './control-server.ts';
import type { System } from './system.ts';

/** Starts the control port of a system whose scaling is only recorded. */
async function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'control-'));
  const socket = join(folder, 'up.sock');
  const scaled: number[] = [];
  const fleet = { instances: [], scale: async (count: number) => void scaled.push(count) };
  const control = await serveControl(socket, { children: [], fleet } as unknown as System);
  t.after(() => {
    control.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const open = (headers: http.OutgoingHttpHeaders = {}) =>
    http
      .request({ socketPath: socket, path: '/instances', method: 'PUT', headers })
      .on('error', () => {});
  const put = async (body: string | Buffer) => {
    const request = open().end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    return JSON.parse(await text(response));
  };
  return { scaled, open, put };
}

test('the number that is asked for is the one that is scaled to', async t => {
  const { put, scaled } = await start(t);
  assert.deepEqual(await put('{"instances": 3}'), { instances: 3 });
  assert.deepEqual(scaled, [3]);
});

for (const [what, body] of [
  ['nothing', ''],
  ['no JSON', '{"instances":'],
  ['null', 'null'],
  ['a list', '[3]'],
  ['no number', '{"instances": {"toString": 1}}'],
  ['a number that is too large', '{"instances": 1e99}'],
  ['bytes that are no UTF-8', Buffer.from('7b22ff', 'hex')],
  ['more bytes than anybody needs', `{"instances": 3, "x": "${'x'.repeat(100_000)}"}`],
] as const)
  test(`a body of ${what} is answered with an error, and the port goes on`, async t => {
    const { put, scaled } = await start(t);
    assert.equal(typeof (await put(body)).error, 'string');
    assert.deepEqual(await put('{"instances": 1}'), { instances: 1 });
    assert.deepEqual(scaled, [1]);
  });

test('a client that does not say what it wants holds up no other one', async t => {
  const { open, put } = await start(t);
  const slow = open({ 'content-length': 100 });
  slow.write('{');
  await once(slow, 'socket');
  assert.deepEqual(await put('{"instances": 2}'), { instances: 2 });
  slow.destroy();
  assert.deepEqual(await put('{"instances": 4}'), { instances: 4 });
});
