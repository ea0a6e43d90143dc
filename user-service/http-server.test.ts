import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  Agent,
  get,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import pino from 'pino';
import { clientError } from './client-error.ts';
import { startHttpServer } from './http-server.ts';

const onClientError = clientError(
  { hostname: 'one', resolvedname: '10.0.0.7' },
  pino({ level: 'silent' }),
);
const start = (onRequest: RequestListener) =>
  startHttpServer({ host: '127.0.0.1', port: 0, onRequest, onClientError });

/**
 * Starts a server, and a request to it over a connection that is kept alive. The request is held
 * until the test answers it.
 */
async function startWithRequestInFlight() {
  const arrived = Promise.withResolvers<ServerResponse>();
  const server = await start((_req, res) => arrived.resolve(res));
  const agent = new Agent({ keepAlive: true });
  const req = get({ host: server.address, port: server.port, agent });
  return { server, req, res: await arrived.promise, agent };
}

test('a stop lets the request in flight end, and closes its connection although it is kept alive', async () => {
  const { server, req, res, agent } = await startWithRequestInFlight();
  const stopped = server.stop(60_000);
  const answer = once(req, 'response');
  res.end('done');
  const [message]: IncomingMessage[] = await answer;
  assert.equal(message?.headers.connection, 'close');
  assert.equal(await text(message), 'done');
  await stopped;
  agent.destroy();
});

test('a stop closes idle connections at once', async () => {
  const { server, req, res, agent } = await startWithRequestInFlight();
  const answer = once(req, 'response');
  res.end('done');
  const [message]: IncomingMessage[] = await answer;
  assert.ok(message);
  await text(message);
  await server.stop(60_000);
  agent.destroy();
});

test('a stop does not wait longer than its grace for a request that never ends', async () => {
  const { server, req, agent } = await startWithRequestInFlight();
  const failed = once(req, 'error');
  await server.stop(50);
  assert.match(String(await failed), /socket hang up/);
  agent.destroy();
});

for (const [name, sent, status] of [
  ['something that is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 400],
  [
    'two framings of one body',
    'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    400,
  ],
  ['a header of 20 KB', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
] as const) {
  test(`${name} is answered ${status} in the form of every failure, and the connection closes`, async () => {
    const server = await start((_req, res) => res.end());
    const socket = connect(server.port, server.address);
    socket.write(sent);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    assert.match(head, new RegExp(`^HTTP/1.1 ${status} .*\r\nConnection: close\r\n`));
    const { ok, hostname, resolvedname, error } = JSON.parse(body);
    assert.deepEqual(
      [ok, hostname, resolvedname, typeof error],
      [false, 'one', '10.0.0.7', 'string'],
    );
    await server.stop(0);
  });
}
