import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { callUnary, connect } from '../testing/client.ts';
import { framed } from './message-reader.ts';
import { protobufCodec } from './protobuf-codec.ts';
import { ECHO, serveEcho } from './testing/echo-server.ts';
import { findTool } from './testing/find-tool.ts';

// Of other clients: Envoy is in envoy.test.ts, grpcurl in reflection-stream.test.ts, Node's own in all the rest.
const curl = findTool('curl');

const NAME = 'envoy.service.ratelimit.v3.RateLimit';

test('grpc-js calls a method', async t => {
  const codec = protobufCodec(`${NAME}Request`, `${NAME}Response`);
  const allow = { path: ECHO, ...codec, handle: () => ({ overall_code: 1 }) };
  const { port } = await serveEcho(t, { methods: [allow] });
  const client = connect(port, `${NAME}Service`);
  t.after(() => client.close());
  assert.equal((await callUnary(client, 'ShouldRateLimit', { domain: 'd' })).overall_code, 1);
});

test('curl calls a method, with prior knowledge of HTTP/2', { skip: curl.skip }, async t => {
  const { port } = await serveEcho(t);
  const headers = ['content-type: application/grpc', 'te: trailers'].flatMap(header => ['-H', header]);
  const url = `http://127.0.0.1:${port}${ECHO}`;
  const args = ['-sS', '--http2-prior-knowledge', '-D', '-', '--data-binary', '@-', ...headers, url];
  const child = spawn(curl.path, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(framed(Buffer.from('größe')));
  const told = Buffer.concat(await child.stdout.toArray());
  assert.match(told.toString(), /^HTTP\/2 200 [\s\S]*grpc-status: 0\r\n$/);
  assert.ok(told.includes(framed(Buffer.from('größe'))), told.toString());
});
