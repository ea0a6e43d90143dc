import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { networkInterfaces } from 'node:os';
import { type TestContext, test } from 'node:test';
import tls from 'node:tls';
import type { ConnectionSource } from './connection-source.ts';
import { type ListenOptions, listen } from './listen.ts';
import { changingTls, testAuthority } from './testing/test-authority.ts';

/**
 * Answers HTTP/1.1 with "<method> <path>" and keeps connections that speak HTTP/2. Leaves `/slow`
 * unanswered.
 */
async function start(t: TestContext, options: Partial<Omit<ListenOptions, 'protocols'>> = {}) {
  const http2: net.Socket[] = [];
  const slow: http.ServerResponse[] = [];
  const http1 = (request: http.IncomingMessage, response: http.ServerResponse) => {
    if (request.url === '/slow') slow.push(response);
    else response.end(`${request.method} ${request.url}`);
  };
  const protocols = { http1, http2: (socket: net.Socket) => void http2.push(socket) };
  const listening = await listen({ host: '127.0.0.1', port: 0, protocols, ...options });
  t.after(async () => {
    const closed = listening.close();
    listening.destroy();
    await closed;
  });
  return { ...listening, http2, slow };
}

async function connect({ port }: { port: number }, host = '127.0.0.1'): Promise<net.Socket> {
  const socket = net.connect(port, host);
  await once(socket, 'connect');
  return socket;
}

/** Reads all that the peer sends until it ends the connection. */
async function readAll(socket: net.Socket): Promise<string> {
  const chunks = await Array.fromAsync(socket as AsyncIterable<Buffer>);
  return Buffer.concat(chunks).toString('latin1');
}

async function sendByteByByte(socket: net.Socket, text: string): Promise<void> {
  socket.setNoDelay(true);
  for (const byte of text) {
    await new Promise<void>(resolve => socket.write(byte, () => resolve()));
    await new Promise(setImmediate);
  }
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, `not within 30 s: ${condition}`);
    await new Promise(setImmediate);
  }
}

test('a POST whose P comes alone is HTTP/1.1', async t => {
  const socket = await connect(await start(t));
  await sendByteByByte(
    socket,
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
  );
  assert.match(await readAll(socket), /^HTTP\/1\.1 200 OK\r\n.*POST \/$/s);
});

test('a preface in single bytes is HTTP/2, and no byte of it is lost', async t => {
  const server = await start(t);
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
  const socket = await connect(server);
  await sendByteByByte(socket, preface);
  await until(() => server.http2.length === 1);
  socket.end();
  assert.equal(await readAll(server.http2[0] as net.Socket), preface);
});

for (const [what, bytes] of [
  ['a TLS ClientHello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['random bytes', '\xff\x00\x80\x0a\x0d\x0a\x0d\x0a'],
] as const) {
  test(`${what} is answered 400 and closed, and others are served`, async t => {
    const server = await start(t);
    const garbage = await connect(server);
    garbage.write(bytes, 'latin1');
    assert.match(await readAll(garbage), /^HTTP\/1\.1 400 /);
    assert.equal(await (await fetch(`http://127.0.0.1:${server.port}/a`)).text(), 'GET /a');
  });
}

for (const [what, bytes] of [
  ['nothing', ''],
  ['only half of a preface', 'PR'],
] as const) {
  test(`a peer that says ${what} is dropped`, async t => {
    const socket = await connect(await start(t, { firstBytesMs: 50 }));
    socket.write(bytes);
    assert.equal(await readAll(socket), '');
  });
}

for (const [what, bytes] of [
  ['never begins its TLS handshake', ''],
  ['stops in the middle of its TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
] as const) {
  test(`a peer that ${what} is dropped, and told of`, { timeout: 4_000 }, async t => {
    const identity = changingTls(await (await testAuthority()).issue('spiffe://a/group/a'));
    const socket = await connect(await start(t, { firstBytesMs: 50, tls: identity.options }));
    socket.write(bytes, 'latin1');
    assert.equal(await readAll(socket), '');
    assert.deepEqual(identity.refused, ['TLS handshake timeout']);
  });
}

for (const secure of [false, true]) {
  const how = secure ? 'encrypted' : 'plain';
  test(`of too many ${how} connections that say nothing the oldest is closed, and others are served`, {
    timeout: 4_000,
  }, async t => {
    const identity = await (await testAuthority()).issue('spiffe://a/group/a');
    const server = await start(t, {
      firstBytesMs: 60_000,
      mostNew: 2,
      ...(secure && { tls: changingTls(identity).options }),
    });
    const [first, second] = [await connect(server), await connect(server)];
    const { certificate: cert, key, ca } = identity;
    for (let times = 0; times < 3; times++) {
      const speaking = await connect(server);
      const socket = secure
        ? tls.connect({ socket: speaking, cert, key, ca, checkServerIdentity: () => undefined })
        : speaking;
      socket.write('GET /c HTTP/1.1\r\nHost: a\r\n\r\n');
      assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 200 OK/);
      t.after(() => socket.destroy());
    }
    assert.equal(await readAll(first), '');
    assert.equal(second.destroyed, false);
    second.destroy();
  });
}

test('a peer that goes away before it has said anything does no harm', async t => {
  const server = await start(t);
  (await connect(server)).resetAndDestroy();
  (await connect(server)).end();
  assert.equal(await (await fetch(`http://127.0.0.1:${server.port}/b`)).text(), 'GET /b');
});

test('100 connections at once are all served', async t => {
  const server = await start(t);
  const sockets = await Promise.all(Array.from({ length: 100 }, () => connect(server)));
  const answers = sockets.map(socket => {
    socket.write('GET /c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    return readAll(socket);
  });
  for (const answer of await Promise.all(answers)) assert.match(answer, /GET \/c$/);
});

test('a port in use rejects with its address', async t => {
  const { port } = await start(t);
  const protocols = { http1: () => {}, http2: () => {} };
  await assert.rejects(
    listen({ host: '127.0.0.1', port, protocols }),
    new RegExp(`EADDRINUSE.*127\\.0\\.0\\.1:${port}`),
  );
});

const hasIpv6 = Object.values(networkInterfaces()).some(addresses =>
  addresses?.some(({ address }) => address === '::1'),
);

test('an IPv6 host', { skip: !hasIpv6 && 'this machine has no ::1' }, async t => {
  const server = await start(t, { host: '::1' });
  assert.equal(server.address, '::1');
  assert.equal(await (await fetch(`http://[::1]:${server.port}/d`)).text(), 'GET /d');
});

test('a silent connection and an idle keep-alive connection do not hold a close', {
  timeout: 4_000,
}, async t => {
  const server = await start(t, { firstBytesMs: 60_000 });
  const silent = await connect(server);
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const response = http.get({ port: server.port, agent }).on('response', answer => answer.resume());
  await once(response, 'close');
  await server.close();
  assert.equal(await readAll(silent), '');
});

test('a request in flight ends before its connection does', { timeout: 4_000 }, async t => {
  const server = await start(t);
  const socket = await connect(server);
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => server.slow.length === 1);
  const closed = server.close();
  server.slow[0]?.end('late');
  assert.match(await readAll(socket), /late/);
  await closed;
});

test('destroy cuts a request in flight', { timeout: 4_000 }, async t => {
  const server = await start(t);
  const socket = await connect(server);
  socket.on('error', () => {});
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => server.slow.length === 1);
  const closed = server.close();
  server.destroy();
  await closed;
});

test('as many connections are served as are allowed, whichever server accepts them, encrypted or not', async t => {
  const acceptor = net.createServer().listen(0, '127.0.0.1');
  await once(acceptor, 'listening');
  t.after(() => acceptor.close());
  const at = acceptor.address() as net.AddressInfo;
  const source: ConnectionSource = async (_, take) => {
    acceptor.removeAllListeners('connection').on('connection', take);
    return at;
  };
  const authority = await testAuthority();
  const { certificate: cert, key, ca } = await authority.issue('spiffe://a/group/a');
  const identity = changingTls({ certificate: cert, key, ca });
  for (const secure of [false, true]) {
    const listening = await start(t, {
      source,
      maxConnections: 2,
      ...(secure && { tls: identity.options }),
    });
    const open = async () => {
      const socket = await connect(listening);
      return secure
        ? tls.connect({ socket, cert, key, ca, checkServerIdentity: () => undefined })
        : socket;
    };
    const ask = async () => {
      const socket = await open();
      t.after(() => socket.destroy());
      socket.on('error', () => {}).write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n');
      const told = await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(
        () => [],
      );
      return String(told[0]).slice(0, 15);
    };
    assert.deepEqual([await ask(), await ask()], ['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK']);
    assert.notEqual(await ask(), 'HTTP/1.1 200 OK');
  }
});
