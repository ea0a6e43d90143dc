import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { describe, type TestContext, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { serve } from '#grpc/serve.ts';
import { type CompiledEnvoy, type EnvoyAnswer, startCompiled } from './compiled-envoy.ts';
import { type HoldingServer, startHoldingServer } from './holding-server.ts';

const mapping = (name: string, address: string, spec: string) =>
  `---\napiVersion: getambassador.io/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {service: '${address}', ${spec}}\n`;

type Served = { readonly envoy: CompiledEnvoy; readonly service: HoldingServer };

/** Starts an Envoy with these Mappings (name → fields) to one service. All end with the test. */
async function startWith(
  t: TestContext,
  mappings: Readonly<Record<string, string>>,
): Promise<Served> {
  const service = await startHoldingServer();
  const documents = Object.entries(mappings).map(([name, spec]) =>
    mapping(name, service.address, spec),
  );
  const envoy = await startCompiled(documents.join(''));
  t.after(async () => {
    await envoy.stop();
    await service.close();
  });
  return { service, envoy };
}

/**
 * Sends this many requests, each after the service has the one before. A connection that is just
 * being made counts as waiting.
 */
async function hold(
  count: number,
  { envoy, service }: Served,
): Promise<readonly Promise<EnvoyAnswer>[]> {
  const asked: Promise<EnvoyAnswer>[] = [];
  while (asked.length < count) {
    asked.push(envoy.ask('/hold'));
    await until(() => service.held() === asked.length || undefined);
  }
  return asked;
}

const times = <T>(count: number, make: () => T): readonly T[] =>
  Array.from({ length: count }, make);

test('what is beyond the circuit breakers is answered 503 at once, not kept waiting', async t => {
  const { envoy, service } = await startWith(t, {
    bound: `prefix: /, timeout_ms: 0, circuit_breakers: [{max_connections: 1, max_pending_requests: 1},
      {priority: high, max_connections: 3, max_pending_requests: 0}]`,
    free: 'prefix: /free/, timeout_ms: 0',
  });
  const first = await hold(1, { envoy, service });
  const statuses: number[] = [];
  const asked = times(9, () => envoy.ask('/hold').then(({ status }) => statuses.push(status)));
  await until(() => statuses.length === 8 || undefined);
  assert.deepEqual(statuses, Array(8).fill(503), 'one waits');
  assert.equal((await envoy.ask('/free/x')).status, 200, 'others have a cluster of their own');
  service.release();
  await Promise.all([...first, ...asked]);
  assert.deepEqual(statuses.slice(8), [200]);
});

test('Mappings of high priority have circuit breakers of their own', async t => {
  const breakers =
    'circuit_breakers: [{max_connections: 1, max_pending_requests: 1}, {priority: high, max_connections: 4, max_pending_requests: 4}]';
  const { envoy, service } = await startWith(t, {
    high: `prefix: /, timeout_ms: 0, priority: high, ${breakers}`,
  });
  const held = await hold(4, { envoy, service });
  const waiting = times(4, () => envoy.ask('/hold'));
  service.release();
  for (const { status } of await Promise.all([...held, ...waiting])) assert.equal(status, 200);
});

test('a request without a byte ends after idle_timeout_ms', async t => {
  const { envoy } = await startWith(t, { idle: 'prefix: /, timeout_ms: 0, idle_timeout_ms: 100' });
  assert.equal((await envoy.ask('/hold')).status, 504);
});

describe('connections to the service', () => {
  test('end when they are idle for cluster_idle_timeout_ms', async t => {
    const { envoy, service } = await startWith(t, {
      short: 'prefix: /, rewrite: "", cluster_idle_timeout_ms: 50',
      default: 'prefix: /default, rewrite: ""',
    });
    await Promise.all([envoy.ask('/short'), envoy.ask('/default')]);
    const ended = (path: string) => service.ended(path).then(() => path);
    assert.equal(await Promise.race([ended('/default'), ended('/short')]), '/short');
  });

  test('are used no longer than cluster_max_connection_lifetime_ms', async t => {
    const { envoy, service } = await startWith(t, {
      brief: 'prefix: /, cluster_max_connection_lifetime_ms: 100',
    });
    await until(async () => {
      assert.equal((await envoy.ask('/x')).status, 200);
      return service.connections() > 2 || undefined;
    });
  });

  test('are made with probes of TCP', async t => {
    const { envoy } = await startWith(t, {
      probed: 'prefix: /, keepalive: {time: 32767, interval: 32767, probes: 127}',
    });
    assert.equal((await envoy.ask('/x')).status, 200);
  });
});

test('a gRPC service is asked by HTTP/2, and its trailers come back', async t => {
  const service = await serve({ host: '127.0.0.1', port: 0, services: {} });
  const method = '/grpc.health.v1.Health/Check';
  const to = `127.0.0.1:${service.port}`;
  const envoy = await startCompiled(
    mapping('grpc', to, 'prefix: /grpc.health.v1.Health/, rewrite: "", grpc: true') +
      mapping('plain', to, 'prefix: /plain/, rewrite: /grpc.health.v1.Health/'),
  );
  t.after(async () => {
    await envoy.stop();
    await service.stop(100);
  });
  assert.equal((await callGrpc(envoy.port, method))['grpc-status'], '0');
  assert.notEqual((await callGrpc(envoy.port, '/plain/Check'))['grpc-status'], '0');
});

/**
 * Returns the trailers of a call with an empty message, or the headers of an answer without body
 * and trailers.
 */
async function callGrpc(port: number, path: string): Promise<Readonly<Record<string, unknown>>> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.resume().end(Buffer.alloc(5));
    return await new Promise((resolve, reject) => {
      let answer = {};
      stream.once('response', headers => {
        answer = headers;
      });
      stream.once('trailers', trailers => {
        answer = trailers;
      });
      stream.once('end', () => resolve(answer)).once('error', reject);
    });
  } finally {
    session.destroy();
  }
}
