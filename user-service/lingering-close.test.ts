import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { lingeringClose, sentOrSilent } from './lingering-close.ts';

/**
 * Starts a server that refuses each request at once, and a client that has begun to send one
 * without reading.
 */
async function refusedRequest(t: TestContext, contentLength: number): Promise<Socket> {
  const server = createServer((req, res) => {
    res.writeHead(413, { Connection: 'close', 'Content-Length': '7' });
    res.write('too big');
    lingeringClose(req, res);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port, address } = server.address() as AddressInfo;
  const socket = connect(port, address).pause();
  t.after(() => {
    socket.destroy();
    server.close();
  });
  socket.write(`PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: ${contentLength}\r\n\r\n`);
  return socket;
}

test('a client that reads only when it has sent 10 MB still finds its answer', async t => {
  const body = Buffer.alloc(10_000_000);
  const socket = await refusedRequest(t, body.length);
  const sent = Promise.withResolvers<void>();
  socket.write(body, error => (error ? sent.reject(error) : sent.resolve()));
  await sent.promise;
  assert.match(await text(socket), /^HTTP\/1.1 413 .*too big$/s);
});

test('a client that never finishes has its connection closed after five seconds', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const socket = await refusedRequest(t, 10_000_000);
  const [answer] = await once(socket.resume(), 'data');
  assert.match(String(answer), /413/);
  t.mock.timers.tick(4999);
  assert.equal(socket.readableEnded, false);
  t.mock.timers.tick(1);
  await once(socket, 'end');
});

test('a request counts as sent when its last byte has come, and as silent half a second after the last one that came', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const req = new IncomingMessage(new Socket());
  let ended = false;
  const end = sentOrSilent(req).then(() => {
    ended = true;
  });
  for (const _ of [1, 2, 3]) {
    t.mock.timers.tick(499);
    req.push('more');
    await setImmediate();
    assert.equal(ended, false);
  }
  t.mock.timers.tick(500);
  await end;

  const whole = new IncomingMessage(new Socket());
  const sent = sentOrSilent(whole);
  whole.push('all');
  whole.push(null);
  await sent;
});

test('a client that sends for ever is waited for five seconds', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const req = new IncomingMessage(new Socket());
  const end = sentOrSilent(req);
  for (let ms = 0; ms < 5000; ms += 250) {
    req.push('more');
    await setImmediate();
    t.mock.timers.tick(250);
  }
  await end;
});
