import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { framed } from '#grpc/http2/grpc-blocks.ts';
import { REFLECTION_SERVICES } from '#grpc/reflection.ts';
import { connect } from '#grpc/testing/client.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import type { Message } from '#protos/decode-bytes.ts';
import { protobufCodec } from '../protobuf-codec.ts';
import { ECHO, serveEcho } from '../testing/echo-server.ts';
import { call, openSession, send } from '../testing/http2-client.ts';

const RLS = 'envoy.service.ratelimit.v3.RateLimitService';
const [V1, V1ALPHA] = REFLECTION_SERVICES;
const PATH = `/${V1}/ServerReflectionInfo`;

type Reflect = { ServerReflectionInfo(): ClientDuplexStream<object, Message> };

for (const service of REFLECTION_SERVICES)
  test(`${service} answers all requests of a stream, in order`, async t => {
    const client = connect((await serveEcho(t)).port, service);
    t.after(() => client.close());
    const stream = (client as unknown as Reflect).ServerReflectionInfo();
    for (let n = 0; n < 50; n++) stream.write({ host: String(n), list_services: '' });
    stream.write({ file_containing_symbol: RLS });
    stream.end();
    const responses = await Array.fromAsync(stream as AsyncIterable<Message>);
    assert.deepEqual(
      responses.slice(0, 50).map(({ valid_host: host }) => host),
      Array.from({ length: 50 }, (_, n) => String(n)),
    );
    const listed = responses[0]?.list_services_response as { service: { name: string }[] };
    assert.deepEqual(
      listed.service.map(({ name }) => name),
      [RLS, 'grpc.health.v1.Health', V1, V1ALPHA],
    );
    assert.ok(responses[50]?.file_descriptor_response);
  });

for (const [what, body] of [
  ['that is compressed', Buffer.from('0100000000', 'hex')],
  ['that is too long', Buffer.from('0000100000', 'hex')],
  ['that is cut off', Buffer.from('0000000001', 'hex')],
  ['that cannot be decoded', framed(Buffer.from([0x0f]))],
] as const)
  test(`a request ${what} resets its stream alone`, async t => {
    const session = openSession(t, (await serveEcho(t)).port);
    assert.equal((await send(session, body, { ':path': PATH })).rstCode, 2);
    assert.equal((await call(session, 'x')).text, 'x');
  });

const { path: grpcurl, skip } = findTool('grpcurl');

test('grpcurl lists, describes and calls without a protoset', { skip }, async t => {
  const messages = 'envoy.service.ratelimit.v3.RateLimit';
  const codec = protobufCodec(`${messages}Request`, `${messages}Response`);
  const allow = { path: ECHO, ...codec, handle: () => ({ overall_code: 1 }) };
  const { port, setServing } = await serveEcho(t, { methods: [allow] });
  setServing(true);
  const address = `127.0.0.1:${port}`;
  const run = async (...args: string[]) =>
    (await promisify(execFile)(grpcurl, ['-plaintext', ...args])).stdout;
  assert.deepEqual((await run(address, 'list')).split('\n').slice(0, 2), [
    RLS,
    'grpc.health.v1.Health',
  ]);
  assert.match(await run(address, 'describe'), /rpc ShouldRateLimit \(/);
  assert.match(
    await run('-d', '{"domain": "d"}', address, `${RLS}/ShouldRateLimit`),
    /"overallCode": "OK"/,
  );
  assert.match(await run(address, 'grpc.health.v1.Health/Check'), /"status": "SERVING"/);
});
