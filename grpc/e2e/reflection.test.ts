import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { findTool } from '#launcher/testing/find-tool.ts';
import type { Message } from '#protos/decode-bytes.ts';
import { REFLECTION_SERVICES } from '../reflection.ts';
import { type Served, serve } from '../serve.ts';
import { connect } from '../testing/client.ts';

const RLS = 'envoy.service.ratelimit.v3.RateLimitService';
const [V1, V1ALPHA] = REFLECTION_SERVICES;

async function serveRateLimit(t: TestContext): Promise<Served> {
  const ShouldRateLimit = (_call: unknown, reply: (error: null, response: object) => void) =>
    reply(null, { overall_code: 1 });
  const served = await serve({
    host: '127.0.0.1',
    port: 0,
    services: { [RLS]: { ShouldRateLimit } },
  });
  t.after(() => served.stop(0));
  return served;
}

/** Sends all requests on one stream and returns the responses in order. */
async function reflect(
  t: TestContext,
  service: string,
  requests: readonly object[],
): Promise<Message[]> {
  const { port } = await serveRateLimit(t);
  const client = connect(port, service);
  t.after(() => client.close());
  const open = (client as unknown as Record<string, () => ClientDuplexStream<object, Message>>)
    .ServerReflectionInfo;
  const call = (open as () => ClientDuplexStream<object, Message>).call(client);
  for (const request of requests) call.write(request);
  call.end();
  return Array.fromAsync(call as AsyncIterable<Message>);
}

function filesOf(response: Message | undefined): string[] {
  const answer = response?.file_descriptor_response as
    | { file_descriptor_proto: Uint8Array[] }
    | undefined;
  const files = (answer?.file_descriptor_proto ?? []).map(bytes =>
    descriptor.FileDescriptorProto.decode(bytes),
  );
  return files.map(file => (file as unknown as { name: string }).name);
}

for (const service of REFLECTION_SERVICES) {
  test(`${service} lists exactly the services of the server`, async t => {
    const [response] = await reflect(t, service, [{ list_services: '' }]);
    const listed = response?.list_services_response as { service: { name: string }[] } | undefined;
    assert.deepEqual(
      listed?.service.map(({ name }) => name),
      [RLS, 'grpc.health.v1.Health', V1, V1ALPHA],
    );
  });
}

test('a file comes first, then all that it imports, each once', async t => {
  const responses = await reflect(t, V1, [
    { file_containing_symbol: RLS },
    { file_containing_symbol: `${RLS}.ShouldRateLimit` },
    { file_by_filename: 'envoy/service/ratelimit/v3/rls.proto' },
  ]);
  for (const files of responses.map(filesOf)) {
    assert.equal(files[0], 'envoy/service/ratelimit/v3/rls.proto');
    assert.ok(files.includes('envoy/extensions/common/ratelimit/v3/ratelimit.proto'));
    assert.ok(files.includes('google/protobuf/descriptor.proto'));
    assert.equal(new Set(files).size, files.length);
  }
});

test('extensions are found by type and number', async t => {
  const containing_type = 'google.protobuf.FieldOptions';
  const [numbers, sensitive] = await reflect(t, V1, [
    { all_extension_numbers_of_type: containing_type },
    { file_containing_extension: { containing_type, extension_number: 76569463 } },
  ]);
  const listed = numbers?.all_extension_numbers_response as {
    base_type_name: string;
    extension_number: number[];
  };
  assert.equal(listed.base_type_name, containing_type);
  assert.ok(listed.extension_number.includes(76569463));
  assert.equal(filesOf(sensitive)[0], 'udpa/annotations/sensitive.proto');
});

test('what is not there is answered NOT_FOUND, nonsense INVALID_ARGUMENT, and the stream goes on', async t => {
  const requests = [
    { file_by_filename: '../../etc/passwd' },
    { file_containing_symbol: '__proto__' },
    { file_containing_symbol: 'x'.repeat(100_000) },
    { file_containing_extension: { containing_type: 'constructor', extension_number: -1 } },
    { all_extension_numbers_of_type: '' },
    { host: 'h' },
    { list_services: '*' },
  ];
  const responses = await reflect(t, V1, requests);
  const codes = responses.map(
    ({ error_response: error }) => (error as { error_code: number } | null)?.error_code,
  );
  assert.deepEqual(codes, [5, 5, 5, 5, 5, 3, undefined]);
  assert.deepEqual(
    responses.map(({ valid_host: host }) => host),
    ['', '', '', '', '', 'h', ''],
  );
});

const { path: grpcurl, skip } = findTool('grpcurl');

test('grpcurl lists, describes and calls without a protoset', { skip }, async t => {
  const { port, setServing } = await serveRateLimit(t);
  setServing(true);
  const address = `127.0.0.1:${port}`;
  const run = async (...args: string[]) =>
    (await promisify(execFile)(grpcurl, ['-plaintext', ...args])).stdout;
  assert.deepEqual((await run(address, 'list')).split('\n').slice(0, 2), [
    RLS,
    'grpc.health.v1.Health',
  ]);
  assert.match(
    await run(address, 'describe'),
    /rpc ShouldRateLimit \( \.envoy\.service\.ratelimit\.v3\.RateLimitRequest \)/,
  );
  assert.match(
    await run(address, 'describe', 'envoy.service.ratelimit.v3.RateLimitRequest'),
    /string domain = 1;/,
  );
  assert.match(
    await run('-d', '{"domain": "d"}', address, `${RLS}/ShouldRateLimit`),
    /"overallCode": "OK"/,
  );
  assert.match(await run(address, 'grpc.health.v1.Health/Check'), /"status": "SERVING"/);
});
