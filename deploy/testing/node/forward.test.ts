import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { type Backend, forwardUdp } from './forward.ts';

const ADDRESS = '127.0.0.1';

/** Starts a backend that answers each datagram with its name. */
async function startBackend(t: TestContext, name: string): Promise<Backend> {
  const socket = createSocket('udp4').bind(0, ADDRESS);
  t.after(() => socket.close());
  socket.on('message', (_, { address, port }) => socket.send(name, port, address));
  await once(socket, 'listening');
  return socket.address();
}

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, ADDRESS);
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

test('a client of UDP keeps its backend while that serves, and has another one afterwards', async t => {
  const [one, other] = [await startBackend(t, 'one'), await startBackend(t, 'other')];
  const [chosen, serving] = [[one], new Set([one, other])];
  const port = await freeUdpPort();
  const forwarder = await forwardUdp({
    ...{ address: ADDRESS, port },
    choose: () => chosen[0],
    keeps: backend => serving.has(backend),
  });
  t.after(forwarder.close);
  const client = createSocket('udp4');
  t.after(() => client.close());
  const ask = async () => {
    client.send('x', port, ADDRESS);
    return String((await once(client, 'message'))[0]);
  };
  assert.equal(await ask(), 'one');
  chosen[0] = other;
  assert.equal(await ask(), 'one');
  serving.delete(one);
  assert.equal(await ask(), 'other');
});
