import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http2 from 'node:http2';
import { type TestContext, test } from 'node:test';
import { framed } from '../http2/grpc-blocks.ts';
import { callUnary, connect } from '../testing/client.ts';

const ADS = 'envoy.service.discovery.v3.AggregatedDiscoveryService';
const HEALTH = 'grpc.health.v1.Health';
const LENGTH = 3 * 1024 * 1024;
const CALLS = 20;

/** A third of its heap is some 12 MiB. */
const PROGRAM = `
  import { serve } from '#grpc/serve.ts';
  const answer = call => call.write({ version_info: 'x'.repeat(${LENGTH}) });
  const ads = { DeltaAggregatedResources: answer, StreamAggregatedResources: answer };
  const { port } = await serve({ host: '127.0.0.1', port: 0, services: { '${ADS}': ads } });
  console.log(port);`;

async function startServer(t: TestContext): Promise<number> {
  const heap = ['--max-old-space-size=32', '--max-semi-space-size=1'];
  const server = spawn(
    process.execPath,
    [...heap, '--input-type=module-typescript', '-e', PROGRAM],
    { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.after(() => server.kill());
  return Number(String((await once(server.stdout, 'data'))[0]));
}

/** Begins many calls. Resolves with the code of the first that ends. */
function callMany(
  session: http2.ClientHttp2Session,
  method: string,
  begin: (call: http2.ClientHttp2Stream) => void,
): Promise<number> {
  const headers = {
    ':method': 'POST',
    ':path': `/${method}`,
    'content-type': 'application/grpc',
  };
  const codes = Array.from({ length: CALLS }, () => {
    const call = session.request(headers);
    call.on('error', () => {});
    begin(call);
    return new Promise<number>(resolve => call.once('close', () => resolve(call.rstCode)));
  });
  return Promise.race(codes);
}

for (const { what, settings, method, begin } of [
  {
    what: 'messages that do not end',
    settings: {},
    method: `${HEALTH}/Check`,
    begin: (call: http2.ClientHttp2Stream) => {
      call.resume().write(framed(new Uint8Array(LENGTH)).subarray(0, -1));
    },
  },
  {
    what: 'responses that nobody takes',
    settings: { initialWindowSize: 0 },
    method: `${ADS}/StreamAggregatedResources`,
    begin: () => {},
  },
])
  test(`a server with a small heap ends calls with ${what}`, { timeout: 30_000 }, async t => {
    const port = await startServer(t);
    const session = http2.connect(`http://127.0.0.1:${port}`, { settings });
    t.after(() => session.destroy());
    const code = await callMany(session, method, begin);
    assert.equal(code, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
    const health = connect(port, HEALTH);
    t.after(() => health.close());
    assert.equal((await callUnary(health, 'Check', { service: '' })).status, 2);
  });
