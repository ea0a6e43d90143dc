import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import tls, { type ConnectionOptions } from 'node:tls';
import { credentials, Metadata } from '@grpc/grpc-js';
import { serveUnary } from '#grpc/unary/serve-unary.ts';
import { serve } from './serve.ts';
import { changingTls, testAuthority } from './testing/test-authority.ts';

const AUTHORITY = await testAuthority();
const SERVER = await AUTHORITY.issue('spiffe://a/group/server');
const CLIENT = await AUTHORITY.issue('spiffe://a/group/client');
const STRANGER = await (await testAuthority()).issue('spiffe://a/group/client');
const EXPIRED = await AUTHORITY.issue('spiffe://a/group/client', -1);

const isClient = (certificate: X509Certificate) =>
  certificate.subjectAltName === 'URI:spiffe://a/group/client';
const hello = (_request: http.IncomingMessage, response: http.ServerResponse) =>
  void response.end('hello');
const SERVERS = {
  serve: (tls: ReturnType<typeof changingTls>) =>
    serve({ host: '127.0.0.1', port: 0, services: {}, http: hello, tls: tls.options }),
  serveUnary: (tls: ReturnType<typeof changingTls>) =>
    serveUnary({
      host: '127.0.0.1',
      port: 0,
      methods: [],
      http: hello,
      onError: error => assert.fail(String(error)),
      tls: tls.options,
    }),
};

/** Returns what the client gets of `GET /`. Rejects when it gets nothing. */
function get(port: number, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = https.get({ port, host: '127.0.0.1', agent: false, ...options }, response => {
      response.setEncoding('utf8').once('data', resolve).once('error', reject);
    });
    request.once('error', reject).once('close', () => reject(new Error('closed')));
  });
}

function client(
  material: { certificate?: string; key?: string },
  more: ConnectionOptions = {},
): ConnectionOptions {
  const { certificate: cert, key } = material;
  return { ca: AUTHORITY.ca, cert, key, checkServerIdentity: () => undefined, ...more };
}

for (const [name, start] of Object.entries(SERVERS)) {
  const setUp = async (t: TestContext) => {
    const tls = changingTls(SERVER, isClient);
    const served = await start(tls);
    t.after(() => served.stop(0));
    return { ...served, ...tls };
  };

  describe(`${name} with mutual TLS`, () => {
    test('answers HTTP/1.1 and gRPC of a welcome peer', async t => {
      const { port } = await setUp(t);
      assert.equal(await get(port, client(CLIENT)), 'hello');
      const { certificate, key } = CLIENT;
      assert.equal(await health(t, port, certificate, key), 'answered');
    });

    for (const [who, options] of [
      ['nobody', client({})],
      ['a stranger', client(STRANGER)],
      ['one whose certificate has ended', client(EXPIRED)],
      ['one of the authority who is not welcome', client(SERVER)],
      ['TLS 1.2', client(CLIENT, { maxVersion: 'TLSv1.2' })],
    ] as const) {
      test(`refuses ${who}, and says so`, async t => {
        const { port, refused } = await setUp(t);
        await assert.rejects(get(port, options));
        assert.equal(refused.length, 1);
      });
    }

    test('logs nothing about a probe that hangs up at once, and something about a client in plain text', async t => {
      const { port, refused } = await setUp(t);
      for (const bytes of ['', 'hello?\r\n']) {
        const socket = net.connect(port, '127.0.0.1', () => socket.end(bytes));
        socket.on('error', () => {}).resume();
        await once(socket, 'close');
      }
      await assert.rejects(get(port, client(STRANGER)));
      assert.equal(refused.length, 2);
    });

    test('closes connections in plain text, HTTP/1.1 and HTTP/2, without an answer', async t => {
      const { port } = await setUp(t);
      for (const bytes of [
        'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      ]) {
        const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes));
        const heard: Buffer[] = [];
        socket.on('data', data => heard.push(data)).on('error', () => {});
        await once(socket, 'close');
        // Only a TLS alert (21) may be sent.
        assert.ok(heard.length === 0 || heard[0]?.[0] === 21);
      }
    });

    test('meets new connections with the newest certificate, and goes on with the older ones', async t => {
      const { port, change } = await setUp(t);
      const old = await connected(t, port);
      const next = await AUTHORITY.issue('spiffe://a/group/server');
      change(next);
      const renewed = await connected(t, port);
      assert.equal(renewed.getPeerX509Certificate()?.serialNumber, serialOf(next.certificate));
      assert.notEqual(old.getPeerX509Certificate()?.serialNumber, serialOf(next.certificate));
      old.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      assert.match(String(await once(old, 'data')), /hello/);
    });

    test('asks again in each connection, because sessions are not resumed', async t => {
      const { port } = await setUp(t);
      const first = await connected(t, port);
      first.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(first, 'data');
      const session = first.getSession();
      const second = await connected(t, port, session === undefined ? {} : { session });
      assert.equal(second.isSessionReused(), false);
    });

    test('a certificate that cannot be used leaves the server with the one before', async t => {
      const { port, change } = await setUp(t);
      assert.throws(() => change({ ...SERVER, key: 'no key' }));
      assert.equal(await get(port, client(CLIENT)), 'hello');
    });

    test('ends in the middle of a handshake, and forgets the certificate', async t => {
      const tls = changingTls(SERVER);
      const served = await start(tls);
      const socket = net.connect(served.port, '127.0.0.1');
      t.after(() => socket.destroy());
      await once(socket, 'connect');
      await served.stop(10);
      assert.equal(tls.watchers.size, 0);
    });

    test('begins nothing with a peer whose handshake ends while it stops', {
      timeout: 30_000,
    }, async t => {
      const { port, stop } = await setUp(t);
      const socket = net.connect(port, '127.0.0.1');
      await once(socket, 'connect');
      // A later connection is answered. By then the server has the other connection too.
      assert.equal(await get(port, client(CLIENT)), 'hello');
      const stopped = stop(60_000);
      const late = tls.connect({ socket, ...client(CLIENT) }).on('error', () => {});
      late.resume().write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
      await once(late, 'close');
      await stopped;
    });
  });
}

async function connected(
  t: TestContext,
  port: number,
  more?: ConnectionOptions,
): Promise<tls.TLSSocket> {
  const socket = tls.connect({ port, host: '127.0.0.1', ...client(CLIENT, more) });
  t.after(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

function serialOf(certificate: string): string {
  return new X509Certificate(certificate).serialNumber;
}

async function health(
  t: TestContext,
  port: number,
  certificate: string,
  key: string,
): Promise<string> {
  const { Client } = await import('@grpc/grpc-js');
  const ssl = credentials.createSsl(
    Buffer.from(AUTHORITY.ca),
    Buffer.from(key),
    Buffer.from(certificate),
    {
      checkServerIdentity: () => undefined,
    },
  );
  const channel = new Client(`127.0.0.1:${port}`, ssl);
  t.after(() => channel.close());
  return new Promise((resolve, reject) => {
    const empty = () => Buffer.alloc(0);
    const answered = (error: unknown) => (error === null ? resolve('answered') : reject(error));
    channel.makeUnaryRequest(
      '/grpc.health.v1.Health/Check',
      empty,
      empty,
      {},
      new Metadata(),
      answered,
    );
  });
}
