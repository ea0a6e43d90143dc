import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http2 from 'node:http2';
import { test } from 'node:test';
import { framed } from '../http2/grpc-blocks.ts';
import { callUnary, connect } from '../testing/client.ts';

const HEALTH = 'grpc.health.v1.Health';
const MESSAGE = framed(new Uint8Array(3 * 1024 * 1024));

/** A third of its heap is some 12 MiB. */
const PROGRAM = `
  import { serve } from '#grpc/serve.ts';
  const { port } = await serve({ host: '127.0.0.1', port: 0, services: {} });
  console.log(port);`;

test('a server with a small heap ends the oldest of many unfinished messages', {
  timeout: 30_000,
}, async t => {
  const args = [
    '--max-old-space-size=32',
    '--max-semi-space-size=1',
    '--input-type=module-typescript',
    '-e',
    PROGRAM,
  ];
  const server = spawn(process.execPath, args, {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => server.kill());
  const port = Number(String((await once(server.stdout, 'data'))[0]));
  const session = http2.connect(`http://127.0.0.1:${port}`);
  t.after(() => session.destroy());
  const codes = Array.from({ length: 20 }, () => {
    const call = session.request({
      ':method': 'POST',
      ':path': `/${HEALTH}/Check`,
      'content-type': 'application/grpc',
    });
    call.on('error', () => {}).resume();
    call.write(MESSAGE.subarray(0, -1));
    return new Promise<number>(resolve => call.once('close', () => resolve(call.rstCode)));
  });
  assert.equal(await Promise.race(codes), http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  const health = connect(port, HEALTH);
  t.after(() => health.close());
  assert.equal((await callUnary(health, 'Check', { service: '' })).status, 2);
});
