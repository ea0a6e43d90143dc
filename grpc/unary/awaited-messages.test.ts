import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { type IncomingHttpHeaders } from 'node:http2';
import { type TestContext, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { framed } from '#grpc/http2/grpc-blocks.ts';
import { serveEcho } from './testing/echo-server.ts';
import { call, closed, open, openSession } from './testing/http2-client.ts';

async function impatient(t: TestContext) {
  const { port } = await serveEcho(t, { limits: { messageMs: 20 } });
  return openSession(t, port);
}

for (const [what, piece] of [
  ['no byte', undefined],
  ['a part of a message', framed(Buffer.from('abc')).subarray(0, 6)],
  ['a whole message, but not that it is all', framed(Buffer.from('abc'))],
] as const)
  test(`a call that sends ${what} is refused in time, and the connection goes on`, async t => {
    const session = await impatient(t);
    const stream = open(session).on('error', () => {});
    const answered = once(stream, 'response') as Promise<[IncomingHttpHeaders]>;
    const ended = closed(stream.resume());
    if (piece !== undefined) stream.write(piece);
    const [headers] = await answered;
    assert.equal(headers['grpc-status'], String(status.DEADLINE_EXCEEDED));
    assert.equal(headers['grpc-message'], 'the message of the call did not come in time');
    await ended;
    assert.equal((await call(session, 'x')).text, 'x');
  });

test('a call whose message sends a byte now and then is refused all the same', async t => {
  const session = await impatient(t);
  const stream = open(session).on('error', () => {});
  const answered = once(stream, 'response') as Promise<[IncomingHttpHeaders]>;
  stream.write(Buffer.from('0000001000', 'hex'));
  const dripping = setInterval(() => stream.write(Buffer.alloc(1)), 5);
  const [headers] = await answered;
  clearInterval(dripping);
  assert.equal(headers['grpc-status'], String(status.DEADLINE_EXCEEDED));
});

test('a call whose message is there is not hurried', async t => {
  const session = await impatient(t);
  const never = call(session, 'never', { 'grpc-timeout': '150m' });
  assert.equal((await never).headers['grpc-message'], 'the deadline of the call has passed');
});

test('nothing is kept of calls that were answered, refused or reset', async t => {
  const half = framed(Buffer.from('half')).subarray(0, 7);
  const maxPartialBytes = 2 * half.length;
  const { port } = await serveEcho(t, { limits: { maxMessageBytes: 9, maxPartialBytes } });
  const session = openSession(t, port);
  const begin = async () => {
    const stream = open(session).on('error', () => {});
    await new Promise(resolve => void stream.write(half, resolve));
    return stream;
  };
  await call(session, 'answered');
  await call(session, 'longer than is read');
  const first = await begin();
  await begin();
  const third = await begin();
  const [refused] = (await once(third, 'response')) as [IncomingHttpHeaders];
  assert.equal(refused['grpc-status'], String(status.RESOURCE_EXHAUSTED));
  first.close(http2.constants.NGHTTP2_CANCEL);
  await closed(first);
  const fourth = await begin();
  fourth.end('lf');
  const [answered] = (await once(fourth, 'response')) as [IncomingHttpHeaders];
  assert.equal(answered['grpc-status'], undefined);
});
