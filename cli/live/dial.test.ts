import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { type TestAuthority, testAuthority } from '#grpc/testing/test-authority.ts';
import { type DialTls, dial } from './dial.ts';

const LOCAL = { host: '127.0.0.1', family: 'any' } as const;

describe('a target that is tried', () => {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  let authority: TestAuthority;
  let other: TestAuthority;

  before(async () => {
    [authority, other] = await Promise.all([testAuthority(), testAuthority()]);
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  });

  const listen = async (server: Server) => {
    servers.push(server);
    server.on('connection', socket => sockets.add(socket.on('error', () => {})));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const tlsOf = (subject: string): DialTls => ({
    ...{ subjects: [subject], sni: subject, alpn: ['http/1.1'] },
    authorities: Buffer.from(authority.ca),
  });
  const secure = async (by: TestAuthority, name: string, seconds?: number, mutual = false) => {
    const { certificate, key } = await by.issue(name, seconds);
    const maxVersion = mutual ? 'TLSv1.2' : 'TLSv1.3';
    const options = {
      cert: certificate,
      key,
      ca: authority.ca,
      requestCert: mutual,
      maxVersion,
    } as const;
    return listen(createTlsServer(options).on('tlsClientError', () => {}));
  };

  test('is good when it accepts a connection', async () => {
    const port = await listen(createServer());
    assert.deepEqual(await dial({ ...LOCAL, port }), []);
    assert.deepEqual(await dial({ ...LOCAL, host: 'localhost', family: 4, port }), []);
  });

  test('is good when it answers a handshake as plain HTTP, and closes or keeps the connection', async () => {
    const closing = await listen(createServer(socket => socket.end('HTTP/1.1 400 Bad\r\n\r\n')));
    const gone = await listen(createServer(socket => socket.destroy()));
    for (const port of [closing, gone]) assert.deepEqual(await dial({ ...LOCAL, port }), []);
  });

  test('fails when its port speaks TLS and no https is written, unless that is a hop', async () => {
    const ports = [await secure(authority, 'a.test'), await secure(authority, 'a', 60, true)];
    for (const port of ports) {
      assert.deepEqual(await dial({ ...LOCAL, port }), [
        {
          ...{ kind: 'broken', address: `127.0.0.1:${port}` },
          ...{ reason: 'it speaks TLS', isTls: false },
        },
      ]);
      assert.deepEqual(await dial({ ...LOCAL, port, tls: 'hop' }), []);
    }
  });

  test('fails without advice on how to start Node', async () => {
    const port = await secure(other, 'a.test');
    const [failure] = await dial({
      ...LOCAL,
      port,
      tls: { subjects: ['a.test'], sni: 'a.test', alpn: [] },
    });
    assert.equal(failure?.kind, 'tls');
    assert.doesNotMatch(failure?.reason ?? '', /Node|--use/);
    assert.match(failure?.reason ?? '', /certificate/);
  });

  test('fails at a port where nothing listens', async () => {
    const server = createServer();
    const port = await listen(server);
    server.close();
    await once(server, 'close');
    assert.deepEqual(await dial({ ...LOCAL, port }), [
      { kind: 'connect', address: `127.0.0.1:${port}`, reason: 'ECONNREFUSED' },
    ]);
  });

  test('fails when DNS does not know its name', async () => {
    const [failure] = await dial({ ...LOCAL, host: 'nosuch.invalid', port: 80 });
    assert.equal(failure?.kind, 'dns');
    assert.match(failure?.reason ?? '', /^(ENOTFOUND|EAI_AGAIN)$/);
  });

  test('is good when its certificate is', async () => {
    const port = await secure(authority, 'a.test');
    assert.deepEqual(await dial({ ...LOCAL, port, tls: tlsOf('a.test') }), []);
  });

  test('is good when its certificate is for one of several names', async () => {
    const port = await secure(authority, 'a.test');
    for (const subjects of [
      ['a.test', 'b.test'],
      ['b.test', 'a.test'],
    ])
      assert.deepEqual(await dial({ ...LOCAL, port, tls: { ...tlsOf('a.test'), subjects } }), []);
  });

  test('is good when it trusts the certificate of the gateway', async () => {
    const port = await secure(authority, 'a.test', undefined, true);
    const { certificate: cert, key } = await authority.issue('gateway.test');
    const pair = { cert: Buffer.from(cert), key: Buffer.from(key) };
    assert.deepEqual(await dial({ ...LOCAL, port, tls: { ...tlsOf('a.test'), pair } }), []);
  });

  const BROKEN: readonly [what: string, start: () => Promise<number>, reason: RegExp][] = [
    [
      'it speaks HTTP',
      () => listen(createServer(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))),
      /wrong version number|packet length too long/,
    ],
    [
      'it closes the connection',
      () => listen(createServer(socket => socket.end())),
      /disconnected before secure|closed the connection|ECONNRESET/,
    ],
    ['its certificate is for another name', () => secure(authority, 'b.test'), /altnames/],
    ['its authority is another', () => secure(other, 'a.test'), /unable to|self.signed/],
    ['its certificate is over', () => secure(authority, 'a.test', -60), /expired/],
    [
      'it wants a certificate',
      () => secure(authority, 'a.test', undefined, true),
      /handshake|alert/,
    ],
  ];

  for (const [what, start, reason] of BROKEN) {
    test(`fails when ${what}`, async () => {
      const port = await start();
      const [failure, more] = await dial({ ...LOCAL, port, tls: tlsOf('a.test') });
      assert.equal(more, undefined);
      assert.equal(failure?.kind, 'tls');
      assert.match(failure?.reason ?? '', reason);
    });
  }
});
