import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { describe, type TestContext, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { framed } from '#grpc/http2/grpc-blocks.ts';
import type { Served } from '#grpc/serve.ts';
import { callUnary, connect } from '#grpc/testing/client.ts';
import { ECHO, serveEcho } from './testing/echo-server.ts';
import { call, open, openSession, send } from './testing/http2-client.ts';

const HEALTH = 'grpc.health.v1.Health';
const SERVICE = 'envoy.service.ratelimit.v3.RateLimitService';

async function echoSession(t: TestContext) {
  const server = await serveEcho(t);
  return { ...server, session: openSession(t, server.port) };
}

describe('a call', () => {
  test('is answered with headers, message and trailers', async t => {
    const { session } = await echoSession(t);
    const { headers, text, rstCode } = await call(session, 'größe');
    assert.equal(text, 'größe');
    assert.equal(rstCode, 0);
    const all = [
      [':status', 200],
      ['content-type', 'application/grpc'],
      ['grpc-status', '0'],
    ];
    assert.deepEqual(Object.entries(headers), all);
  });

  test('may have and get an empty message', async t => {
    const { session } = await echoSession(t);
    const { headers, text } = await call(session, '');
    assert.deepEqual([headers['grpc-status'], text], ['0', '']);
  });

  test('may be answered late', async t => {
    const { session } = await echoSession(t);
    assert.equal((await call(session, 'late-answer')).text, 'answer');
  });

  test('in thousands on one connection gets each its own answer', async t => {
    const { session } = await echoSession(t);
    const texts = Array.from({ length: 3_000 }, (_, n) => `${n % 2 ? 'late-' : ''}${n}`);
    const answers = await Promise.all(texts.map(text => call(session, text)));
    assert.deepEqual(
      answers.map(({ text }) => text),
      texts.map(text => text.replace('late-', '')),
    );
  });

  test('with a message of a megabyte is answered with it', async t => {
    const { session } = await echoSession(t);
    const long = 'x'.repeat(2 ** 20);
    assert.equal((await call(session, long)).text, long);
  });

  test('tells its method of headers and timeout', async t => {
    const { session } = await echoSession(t);
    const headers = { 'x-request': 'id-1', 'grpc-timeout': '1500m' };
    assert.equal((await call(session, 'metadata x-request', headers)).text, 'id-1');
    assert.equal((await call(session, 'metadata __proto__', headers)).text, '');
    assert.equal((await call(session, 'metadata constructor', headers)).text, '');
    assert.equal((await call(session, 'timeout', headers)).text, '1500');
    assert.equal((await call(session, 'timeout')).text, 'undefined');
  });
});

describe('a call that fails', () => {
  for (const [what, text, code, message, headers] of [
    ['by its method', 'fail', status.NOT_FOUND, 'nicht gefunden: 100 %25 gr%C3%B6%C3%9Fe', {}],
    [
      'late by its method',
      'late-fail',
      status.NOT_FOUND,
      'nicht gefunden: 100 %25 gr%C3%B6%C3%9Fe',
      {},
    ],
    ['by a mistake of ours', 'throw', status.INTERNAL, 'internal error, see the log', {}],
    ['late by a mistake of ours', 'late-throw', status.INTERNAL, 'internal error, see the log', {}],
    [
      'by its deadline',
      'never',
      status.DEADLINE_EXCEEDED,
      'the deadline of the call has passed',
      { 'grpc-timeout': '20m' },
    ],
    [
      'since its time is over',
      'x',
      status.DEADLINE_EXCEEDED,
      /when it came/,
      { 'grpc-timeout': '0S' },
    ],
    [
      'by a timeout that is none',
      'x',
      status.INTERNAL,
      /^grpc-timeout is not/,
      { 'grpc-timeout': '1 hour' },
    ],
    [
      'since there is no such method',
      'x',
      status.UNIMPLEMENTED,
      /no such method/,
      { ':path': '/a.B/C' },
    ],
    [
      'since health is not watched',
      '',
      status.UNIMPLEMENTED,
      /no such method/,
      { ':path': `/${HEALTH}/Watch` },
    ],
  ] as const)
    test(`${what} has a status and no message`, async t => {
      const { session } = await echoSession(t);
      const answered = await call(session, text, headers);
      assert.equal(answered.headers[':status'], 200);
      assert.equal(answered.headers['grpc-status'], String(code));
      const told = String(answered.headers['grpc-message']);
      if (typeof message === 'string') assert.equal(told, message);
      else assert.match(told, message);
      assert.equal((await call(session, 'next')).text, 'next', 'the connection goes on');
    });

  test('by an error of ours is reported to the server, not to the caller', async t => {
    const { errors, session } = await echoSession(t);
    await call(session, 'throw');
    await call(session, 'late-throw');
    assert.deepEqual(errors.map(String), Array(2).fill('TypeError: a mistake of ours'));
  });

  test('for the longest timeout that can be said does not fail at once', async t => {
    const { session } = await echoSession(t);
    assert.equal((await call(session, 'late-x', { 'grpc-timeout': '99999999H' })).text, 'x');
  });

  for (const [what, body, headers, code] of [
    ['no message', Buffer.alloc(0), {}, status.UNIMPLEMENTED],
    [
      'two messages',
      Buffer.concat([framed(Buffer.from('a')), framed(Buffer.from('b'))]),
      {},
      status.UNIMPLEMENTED,
    ],
    ['a message cut off', framed(Buffer.from('abc')).subarray(0, 6), {}, status.INTERNAL],
    ['a message that cannot be decoded', framed(Buffer.from([0xff])), {}, status.INVALID_ARGUMENT],
    [
      'a compressed message',
      Buffer.from('010000000161', 'hex'),
      { 'grpc-encoding': 'gzip' },
      status.UNIMPLEMENTED,
    ],
    ['a compressed message by no method', Buffer.from('010000000161', 'hex'), {}, status.INTERNAL],
    [
      'a message of 4 GiB, so it says',
      Buffer.from('00ffffffff', 'hex'),
      {},
      status.RESOURCE_EXHAUSTED,
    ],
  ] as const)
    test(`with ${what}: ${status[code]}`, async t => {
      const { session } = await echoSession(t);
      const answered = await send(session, body, headers);
      assert.equal(answered.headers['grpc-status'], String(code));
      assert.equal(answered.headers['grpc-accept-encoding'], 'identity');
    });
});

describe('a request that is no gRPC', () => {
  for (const [what, headers, httpStatus] of [
    ['by its content type', { 'content-type': 'application/json' }, 415],
    ['but grpc-web', { 'content-type': 'application/grpc-web+proto' }, 415],
    ['but JSON', { 'content-type': 'application/grpc+json' }, 415],
    ['without a content type', { 'content-type': '' }, 415],
    ['by its method', { ':method': 'PUT' }, 405],
  ] as const)
    test(`${what} gets ${httpStatus}`, async t => {
      const { session } = await echoSession(t);
      assert.equal((await call(session, 'x', headers)).headers[':status'], httpStatus);
    });

  for (const type of [
    'application/grpc+proto',
    'application/grpc;charset=utf-8',
    'Application/gRPC',
  ])
    test(`is not one of ${type}`, async t => {
      const { session } = await echoSession(t);
      assert.equal((await call(session, 'x', { 'content-type': type })).text, 'x');
    });
});

describe('a caller that goes', () => {
  test('before the answer leaves nothing behind', async t => {
    const { errors, session } = await echoSession(t);
    const stream = open(session);
    stream.on('error', () => {});
    stream.end(framed(Buffer.from('never')));
    assert.equal((await call(session, 'x')).text, 'x');
    stream.close(http2.constants.NGHTTP2_CANCEL);
    assert.equal((await call(session, 'late-y')).text, 'y');
    assert.deepEqual(errors, []);
  });

  test('in the middle of its message leaves the connection to others', async t => {
    const { session } = await echoSession(t);
    const stream = open(session);
    stream.on('error', () => {});
    stream.write(framed(Buffer.from('abc')).subarray(0, 6));
    assert.equal((await call(session, 'x')).text, 'x');
    stream.close(http2.constants.NGHTTP2_CANCEL);
    assert.equal((await call(session, 'y')).text, 'y');
  });
});

describe('one port answers', () => {
  test('plain HTTP/1.1', async t => {
    const { port } = await serveEcho(t, {
      http: (_request, response) => void response.end('plain'),
    });
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'plain');
  });

  test('plain HTTP/1.1 with 404 where nobody answers it', async t => {
    const { port } = await serveEcho(t);
    assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404);
  });

  test('health, for the server and its services', async t => {
    const served = await serveEcho(t);
    const health = connect(served.port, HEALTH);
    t.after(() => health.close());
    const check = async (service: string) => (await callUnary(health, 'Check', { service })).status;
    assert.deepEqual([await check(''), await check(SERVICE)], [2, 2]);
    served.setServing(true);
    assert.deepEqual([await check(''), await check(SERVICE)], [1, 1]);
    await assert.rejects(check('no.such.Service'), { code: status.NOT_FOUND });
    const garbage = await send(openSession(t, served.port), framed(Buffer.from([0x0f])), {
      ':path': `/${HEALTH}/Check`,
    });
    assert.equal(garbage.headers['grpc-status'], String(status.INVALID_ARGUMENT));
  });
});

test('a port in use rejects with its address', async t => {
  const { port } = await serveEcho(t);
  await assert.rejects(serveEcho(t, { port }), new RegExp(`EADDRINUSE.*127\\.0\\.0\\.1:${port}`));
});

describe('stop', () => {
  test('lets calls in flight and on their way end, and accepts no new connection', async t => {
    const { promise: called, resolve } = Promise.withResolvers<() => void>();
    const slow = {
      path: ECHO,
      decode: () => ({}),
      encode: () => Buffer.from('done'),
      handle: () => new Promise<object>(end => resolve(() => end({}))),
    };
    const server = await serveEcho(t, { methods: [slow] });
    const session = openSession(t, server.port);
    const answer = call(session, 'x');
    const end = await called;
    const stopped = server.stop(10_000);
    await assert.rejects(fetch(`http://127.0.0.1:${server.port}/`));
    end();
    assert.equal((await answer).text, 'done');
    await stopped;
  });

  test('ends at once when nothing is in flight', { timeout: 30_000 }, async t => {
    const server = await serveEcho(t);
    await call(openSession(t, server.port), 'x');
    await server.stop(60_000);
  });

  test('cuts what has not ended within the grace', { timeout: 30_000 }, async t => {
    const server: Served = await serveEcho(t);
    const session = openSession(t, server.port);
    const never = call(session, 'never');
    await call(session, 'x');
    await server.stop(50);
    assert.equal((await never).headers['grpc-status'], undefined);
  });

  test('may be called twice', async t => {
    const server = await serveEcho(t);
    await call(openSession(t, server.port), 'x');
    await Promise.all([server.stop(50), server.stop(50)]);
  });
});
