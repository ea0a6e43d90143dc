import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentials, makeClientConstructor } from '@grpc/grpc-js';
import { serve } from './serve.ts';
import { serviceDefinition } from './service.ts';

const RLS = 'envoy.service.ratelimit.v3.RateLimitService';
type Unary = (request: object, callback: (error: Error | null, response: object) => void) => void;

test('one port answers gRPC and plain HTTP/1.1', async t => {
  const served = await serve({
    host: '127.0.0.1',
    port: 0,
    services: {
      [RLS]: {
        ShouldRateLimit: (_call: unknown, reply: (e: null, r: object) => void) =>
          reply(null, { overall_code: 1 }),
      },
    },
    http: (_request, response) => void response.end('plain'),
  });
  t.after(() => served.stop(0));
  const Client = makeClientConstructor(serviceDefinition(RLS), RLS);
  const client = new Client(`127.0.0.1:${served.port}`, credentials.createInsecure());
  t.after(() => client.close());
  const answer = await new Promise<object>((resolve, reject) => {
    const call = client.ShouldRateLimit as Unary;
    call.call(client, { domain: 'd' }, (error, response) => (error ? reject(error) : resolve(response)));
  });
  assert.equal((answer as { overall_code: number }).overall_code, 1);
  assert.equal(await (await fetch(`http://127.0.0.1:${served.port}/`)).text(), 'plain');
});
