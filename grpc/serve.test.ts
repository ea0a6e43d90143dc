import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  type Client,
  type ClientReadableStream,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { FRAME, frame } from '#grpc/http2/frame.ts';
import { MAX_STREAMS } from '#grpc/unary/answering.ts';
import { field, requestHeaders, uint32 } from '#grpc/unary/testing/frames.ts';
import { connectRaw } from '#grpc/unary/testing/raw-connection.ts';
import type { Message } from '#protos/decode-bytes.ts';
import { type Served, type ServeOptions, serve } from './serve.ts';
import { callUnary, connect } from './testing/client.ts';

const RLS = 'envoy.service.ratelimit.v3.RateLimitService';
const ADS = 'envoy.service.discovery.v3.AggregatedDiscoveryService';
const HEALTH = 'grpc.health.v1.Health';

type Reply = (error: null, response: object) => void;

const ALLOW: UntypedServiceImplementation = {
  ShouldRateLimit: (_call: unknown, reply: Reply) => reply(null, { overall_code: 1 }),
};

async function start(t: TestContext, options: Partial<ServeOptions> = {}): Promise<Served> {
  const served = await serve({
    host: '127.0.0.1',
    port: 0,
    services: { [RLS]: ALLOW },
    ...options,
  });
  t.after(() => served.stop(0));
  return served;
}

function client(t: TestContext, { port }: Served, service: string): Client {
  const connected = connect(port, service);
  t.after(() => connected.close());
  return connected;
}

function ask(rateLimit: Client, request: object = {}): Promise<Message> {
  return callUnary(rateLimit, 'ShouldRateLimit', request);
}

test('one port answers gRPC and plain HTTP/1.1', async t => {
  const served = await start(t, { http: (_request, response) => void response.end('plain') });
  assert.equal((await ask(client(t, served, RLS), { domain: 'd' })).overall_code, 1);
  assert.equal(await (await fetch(`http://127.0.0.1:${served.port}/`)).text(), 'plain');
});

test('plain HTTP/1.1 is 404 where nobody answers it', async t => {
  const served = await start(t);
  assert.equal((await fetch(`http://127.0.0.1:${served.port}/`)).status, 404);
});

test('health begins NOT_SERVING and follows setServing, for the server and its services', async t => {
  const served = await start(t);
  const health = client(t, served, HEALTH);
  const check = async (service: string) => (await callUnary(health, 'Check', { service })).status;
  assert.deepEqual([await check(''), await check(RLS)], [2, 2]);
  served.setServing(true);
  assert.deepEqual([await check(''), await check(RLS)], [1, 1]);
  await assert.rejects(check('no.such.Service'), { code: status.NOT_FOUND });
});

test('a health watch sees every change, and NOT_SERVING when the server stops', async t => {
  const served = await start(t);
  const health = client(t, served, HEALTH) as unknown as Record<
    string,
    (r: object) => ClientReadableStream<Message>
  >;
  const watch = health.Watch?.call(health, { service: RLS }) as ClientReadableStream<Message>;
  watch.on('error', () => {});
  const next = async () => ((await once(watch, 'data')) as [Message])[0].status;
  assert.equal(await next(), 2);
  served.setServing(true);
  assert.equal(await next(), 1);
  const stopped = served.stop(50);
  assert.equal(await next(), 2);
  await stopped;
});

test('a port in use rejects with its address', async t => {
  const { port } = await start(t);
  const second = serve({ host: '127.0.0.1', port, services: {} });
  await assert.rejects(second, new RegExp(`EADDRINUSE.*127\\.0\\.0\\.1:${port}`));
});

test('a message above the limit is RESOURCE_EXHAUSTED, and the server lives', async t => {
  const rateLimit = client(t, await start(t), RLS);
  await assert.rejects(ask(rateLimit, { domain: 'x'.repeat(5 * 1024 * 1024) }), {
    code: status.RESOURCE_EXHAUSTED,
  });
  assert.equal((await ask(rateLimit)).overall_code, 1);
});

test('bytes that are no message fail that call only', async t => {
  const rateLimit = client(t, await start(t), RLS);
  const garbage = new Promise((resolve, reject) => {
    const path = `/${RLS}/ShouldRateLimit`;
    const raw = (bytes: Buffer) => bytes;
    rateLimit.makeUnaryRequest(path, raw, raw, Buffer.from('0f', 'hex'), error =>
      error ? reject(error) : resolve(0),
    );
  });
  await assert.rejects(garbage, { code: status.INTERNAL });
  assert.equal((await ask(rateLimit)).overall_code, 1);
});

test('a compressed call is UNIMPLEMENTED before a message of it is inflated', async t => {
  const served = await start(t);
  const session = http2.connect(`http://127.0.0.1:${served.port}`).on('error', () => {});
  t.after(() => session.destroy());
  const call = session.request({
    ':method': 'POST',
    ':path': `/${RLS}/ShouldRateLimit`,
    'content-type': 'application/grpc',
    'grpc-encoding': 'gzip',
  });
  call.on('error', () => {}).resume();
  const zeros = gzipSync(Buffer.alloc(3 * 1024 * 1024));
  const prefix = Buffer.concat([Buffer.from([1]), uint32(zeros.length)]);
  call.end(Buffer.concat([prefix, zeros]));
  const [headers] = (await once(call, 'response')) as [http2.IncomingHttpHeaders];
  assert.equal(headers['grpc-status'], String(status.UNIMPLEMENTED));
  assert.equal(headers['grpc-accept-encoding'], 'identity');
  assert.equal((await ask(client(t, served, RLS))).overall_code, 1);
});

test('a preface followed by garbage closes that connection only', async t => {
  const served = await start(t);
  const socket = net.connect(served.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.end(`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'\xff'.repeat(100)}`, 'latin1');
  socket.resume();
  await once(socket, 'close');
  assert.equal((await ask(client(t, served, RLS))).overall_code, 1);
});

test('100 clients at once are all answered', async t => {
  const served = await start(t);
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(client(t, served, RLS))));
  assert.ok(answers.every(({ overall_code: code }) => code === 1));
});

test('stop lets a call in flight end and takes no new connection', async t => {
  const { promise: called, resolve } = Promise.withResolvers<Reply>();
  const served = await start(t, {
    services: { [RLS]: { ShouldRateLimit: (_call: unknown, reply: Reply) => resolve(reply) } },
  });
  const answer = ask(client(t, served, RLS));
  const reply = await called;
  const stopped = served.stop(10_000);
  await assert.rejects(fetch(`http://127.0.0.1:${served.port}/`));
  reply(null, { overall_code: 2 });
  assert.equal((await answer).overall_code, 2);
  await stopped;
});

test('stop cuts streams after the grace', { timeout: 30_000 }, async t => {
  const { promise: called, resolve } = Promise.withResolvers<void>();
  const served = await start(t, {
    services: {
      [ADS]: { DeltaAggregatedResources: () => resolve(), StreamAggregatedResources: () => {} },
    },
  });
  const ads = client(t, served, ADS) as unknown as Record<
    string,
    () => ClientReadableStream<Message>
  >;
  const stream = ads.DeltaAggregatedResources?.call(ads) as ClientReadableStream<Message>;
  const ended = once(stream, 'error');
  await called;
  await served.stop(50);
  assert.ok((await ended)[0] instanceof Error);
});

test('stop is held neither by idle HTTP connections nor, after the grace, by a request that never ends', {
  timeout: 4_000,
}, async t => {
  const { promise: called, resolve } = Promise.withResolvers<void>();
  const served = await start(t, {
    http: (request, response) =>
      void (request.url === '/never' ? resolve() : response.end('plain')),
  });
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const idle = http.get({ port: served.port, agent }).on('response', response => response.resume());
  await once(idle, 'close');
  const hanging = http.get({ port: served.port, path: '/never' });
  const cut = once(hanging, 'error');
  await called;
  await served.stop(50);
  await cut;
});

test('stop may be called twice', async t => {
  const served = await start(t);
  await Promise.all([served.stop(50), served.stop(50)]);
});

const NOT_GRPC = Buffer.concat([
  requestHeaders('/x').subarray(0, 2),
  field(':path', '/x'),
  field(':authority', 'x'),
]);

for (const [what, headers] of [
  ['an unknown method', requestHeaders('/no.such.Service/Method')],
  ['a service without its method', requestHeaders(`/${RLS}/`)],
  ['a known method', requestHeaders(`/${RLS}/ShouldRateLimit`)],
  ['what is no gRPC', NOT_GRPC],
] as const) {
  test(`a call of ${what} that is cancelled in the same read ends nothing else`, async t => {
    const served = await start(t);
    const connection = await connectRaw(t, served.port);
    const ids = Array.from({ length: 20 }, (_, index) => 2 * index + 1);
    await connection.write(
      ...ids.flatMap(id => [
        frame(FRAME.headers, 4, id, headers),
        frame(FRAME.rstStream, 0, id, uint32(8)),
      ]),
      frame(FRAME.ping, 0, 0, Buffer.alloc(8)),
    );
    await connection.until(({ counts }) => counts.has(FRAME.ping));
    assert.equal(connection.isClosed, false);
    assert.equal((await ask(client(t, served, RLS), { domain: 'd' })).overall_code, 1);
  });
}

test('a connection that opens too many streams ends, and the others go on', async t => {
  let open = 0;
  const stream = () => void open++;
  const served = await start(t, {
    services: {
      [RLS]: ALLOW,
      [ADS]: { DeltaAggregatedResources: stream, StreamAggregatedResources: stream },
    },
  });
  const connection = await connectRaw(t, served.port);
  const headers = requestHeaders(`/${ADS}/StreamAggregatedResources`);
  const ids = Array.from({ length: MAX_STREAMS + 1 }, (_, index) => 2 * index + 1);
  await connection.write(...ids.map(id => frame(FRAME.headers, 4, id, headers)));
  await connection.until(({ goaway, resets }) => goaway !== undefined || resets.size > 0);
  assert.ok(open <= MAX_STREAMS, `${open} streams`);
  assert.equal((await ask(client(t, served, RLS))).overall_code, 1);
});

test('a connection that breaks the protocol ends its cancelled calls, and nothing else', async t => {
  const served = await start(t);
  const connection = await connectRaw(t, served.port);
  const call = requestHeaders('/no.such.Service/Method');
  await connection.write(
    ...[1, 3, 5].flatMap(id => [
      frame(FRAME.headers, 4, id, call),
      frame(FRAME.rstStream, 0, id, uint32(8)),
    ]),
    frame(FRAME.headers, 4, 7, call),
    frame(FRAME.data, 0, 0, Buffer.from('of no stream')),
  );
  await connection.closed;
  assert.equal((await ask(client(t, served, RLS), { domain: 'd' })).overall_code, 1);
});
