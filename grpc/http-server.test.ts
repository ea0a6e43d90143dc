import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { createHttpServer } from './http-server.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n';

async function serving(t: TestContext, listener: RequestListener) {
  const server = createHttpServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('of many requests that come together few are begun, and their connection is closed', {
  timeout: 4_000,
}, async t => {
  let begun = 0;
  const port = await serving(t, () => void begun++);
  const socket = net.connect(port, '127.0.0.1').on('error', () => {});
  socket.resume().write(`${GET}\r\n`.repeat(1_000));
  await new Promise(resolve => socket.once('close', resolve));
  assert.equal(begun, 16);
});

test('as many requests as may come together are answered, again and again', async t => {
  const port = await serving(t, (_request, response) => void response.end('one '));
  const socket = net.connect(port, '127.0.0.1');
  socket.write(`${`${GET}\r\n`.repeat(15)}${GET}Connection: close\r\n\r\n`);
  assert.equal((await text(socket)).match(/one /g)?.length, 16);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  for (let times = 0; times < 50; times++) {
    const [response] = await once(http.get({ port, agent }), 'response');
    assert.equal(await text(response), 'one ');
  }
});
