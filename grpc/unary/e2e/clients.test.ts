import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { framed } from '#grpc/http2/grpc-blocks.ts';
import { callUnary, connect } from '#grpc/testing/client.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { protobufCodec } from '../protobuf-codec.ts';
import { ECHO, serveEcho } from '../testing/echo-server.ts';

// One client of several. Envoy is in envoy.test.ts, grpcurl in reflection-stream.test.ts, and
// Node's own in all the others.
const curl = findTool('curl');
const ghz = findTool('ghz');

const NAME = 'envoy.service.ratelimit.v3.RateLimit';
const codec = protobufCodec(`${NAME}Request`, `${NAME}Response`);
const allow = { path: ECHO, ...codec, handle: () => ({ overall_code: 1 }) };

test('grpc-js calls a method', async t => {
  const { port } = await serveEcho(t, { methods: [allow] });
  const client = connect(port, `${NAME}Service`);
  t.after(() => client.close());
  assert.equal((await callUnary(client, 'ShouldRateLimit', { domain: 'd' })).overall_code, 1);
});

test('curl calls a method, with prior knowledge of HTTP/2', { skip: curl.skip }, async t => {
  const { port } = await serveEcho(t);
  const headers = ['content-type: application/grpc', 'te: trailers'].flatMap(header => [
    '-H',
    header,
  ]);
  const url = `http://127.0.0.1:${port}${ECHO}`;
  const args = [
    '-sS',
    '--http2-prior-knowledge',
    '-D',
    '-',
    '--data-binary',
    '@-',
    ...headers,
    url,
  ];
  const child = spawn(curl.path, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(framed(Buffer.from('größe')));
  const told = Buffer.concat(await child.stdout.toArray());
  assert.match(told.toString(), /^HTTP\/2 200 [\s\S]*grpc-status: 0\r\n$/);
  assert.ok(told.includes(framed(Buffer.from('größe'))), told.toString());
});

test('ghz calls a method from 32 callers over 4 connections, which it finds by reflection', {
  skip: ghz.skip,
}, async t => {
  const { port } = await serveEcho(t, { methods: [allow] });
  const load = [
    '-n',
    '2000',
    '-c',
    '32',
    '--connections',
    '4',
    '-d',
    '{"domain": "d"}',
    '-O',
    'json',
  ];
  const args = ['--insecure', '--call', ECHO.slice(1), ...load, `127.0.0.1:${port}`];
  const { stdout } = await promisify(execFile)(ghz.path, args);
  assert.deepEqual(JSON.parse(stdout).statusCodeDistribution, { OK: 2000 });
});
