import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { credentials, makeClientConstructor } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import pino from 'pino';
import { until } from '#envoy/e2e/until.ts';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import type { Instances } from './instances/instance.ts';
import { createMetrics } from './metrics.ts';
import { startServer } from './server.ts';
import { openStream } from './testing/discovery-client.ts';

const EDS = 'envoy.service.endpoint.v3.EndpointDiscoveryService';
const ADS = 'envoy.service.discovery.v3.AggregatedDiscoveryService';

const one = { address: '10.0.0.1', port: 80 };
const two = { address: '10.0.0.2', port: 80 };

/** A server whose instances are said by hand. */
async function setUp(t: TestContext, { now = Date.now, log = pino({ level: 'silent' }) } = {}) {
  let say = (_instances: Instances) => {};
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: {
      watch(onChange) {
        say = onChange;
        return () => {};
      },
    },
    metrics: createMetrics(),
    log,
    now,
    after: new HandTimers().after,
  });
  t.after(() => server.stop(0));
  const get = async (path: string) =>
    (await fetch(`http://127.0.0.1:${server.port}${path}`)).text();
  return {
    port: server.port,
    say: (services: Readonly<Record<string, readonly (typeof one)[]>>) =>
      say(new Map(Object.entries(services))),
    get,
    status: async () => JSON.parse(await get('/status')),
  };
}

const DELTA: readonly [service: string, method: string][] = [
  [EDS, 'DeltaEndpoints'],
  [ADS, 'DeltaAggregatedResources'],
];

for (const [service, method] of DELTA) {
  test(`${method} sends each subscribed service, then only what changes`, async t => {
    const it = await setUp(t);
    it.say({ a: [one], b: [one] });
    const stream = openStream(t, it.port, service, method);
    stream.send({
      type_url: CLUSTER_LOAD_ASSIGNMENT,
      resource_names_subscribe: ['a', 'b', 'nobody'],
    });
    const first = await stream.next();
    assert.deepEqual(first.resources.map(resource => resource.name).toSorted(), [
      'a',
      'b',
      'nobody',
    ]);
    stream.send({ type_url: CLUSTER_LOAD_ASSIGNMENT, response_nonce: first.nonce });
    it.say({ a: [one, two], b: [one] });
    assert.deepEqual(
      (await stream.next()).resources.map(resource => resource.name),
      ['a'],
    );
  });
}

const STATE_OF_THE_WORLD: readonly [service: string, method: string][] = [
  [EDS, 'StreamEndpoints'],
  [ADS, 'StreamAggregatedResources'],
];

for (const [service, method] of STATE_OF_THE_WORLD) {
  test(`${method} sends the subscribed services, an unknown one too`, async t => {
    const it = await setUp(t);
    it.say({ a: [one], b: [one] });
    const stream = openStream(t, it.port, service, method);
    stream.send({ type_url: CLUSTER_LOAD_ASSIGNMENT, resource_names: ['a', 'nobody'] });
    assert.equal((await stream.next()).resources.length, 2);
  });
}

test('a stream waits until the instances are known, and so does gRPC health', async t => {
  const it = await setUp(t);
  const stream = openStream(t, it.port, EDS, 'DeltaEndpoints');
  stream.send({ type_url: CLUSTER_LOAD_ASSIGNMENT, resource_names_subscribe: ['a'] });
  await until(async () => ((await it.status()).clients.length === 1 ? true : undefined));
  assert.deepEqual([stream.waiting.length, await health(it.port)], [0, 'NOT_SERVING']);
  it.say({ a: [one] });
  await stream.next();
  assert.equal(await health(it.port), 'SERVING');
});

test('a service counts as acked when its clients have ACKed the newest version', async t => {
  const it = await setUp(t);
  it.say({ a: [one, two] });
  const stream = openStream(t, it.port, EDS, 'DeltaEndpoints');
  stream.send({ type_url: CLUSTER_LOAD_ASSIGNMENT, resource_names_subscribe: ['a'] });
  stream.send({ type_url: CLUSTER_LOAD_ASSIGNMENT, response_nonce: (await stream.next()).nonce });
  await until(async () => ((await it.status()).services.a.acked ? true : undefined));
  it.say({ a: [two] });
  const { nonce, resources } = await stream.next();
  const { a } = (await it.status()).services;
  assert.deepEqual(a, { instances: [two], version: resources[0]?.version, acked: false });
  stream.send({ type_url: CLUSTER_LOAD_ASSIGNMENT, response_nonce: nonce });
  await until(async () => ((await it.status()).services.a.acked ? true : undefined));
});

test('a request for many unknown services is a few lines in the log, and their number', async t => {
  const told: { readonly asked?: string; readonly untold?: number }[] = [];
  const log = pino({}, { write: (line: string) => void told.push(JSON.parse(line)) });
  let time = 1_000;
  const it = await setUp(t, { now: () => time, log });
  it.say({ a: [one] });
  const stream = openStream(t, it.port, EDS, 'DeltaEndpoints');
  const ask = async (names: readonly string[]) => {
    stream.send({ type_url: CLUSTER_LOAD_ASSIGNMENT, resource_names_subscribe: names });
    const { nonce } = await stream.next();
    stream.send({ type_url: CLUSTER_LOAD_ASSIGNMENT, response_nonce: nonce });
  };
  await ask(Array.from({ length: 500 }, (_, at) => `unknown-${at}`));
  time += 1_000;
  await ask(['later']);
  const asked = told.filter(line => line.asked !== undefined);
  assert.deepEqual([asked.length, asked[0]?.untold, asked.at(-1)?.untold], [21, undefined, 480]);
  assert.equal(asked.at(-1)?.asked, 'later');
});

test('a name that clients miss is told of, also while no service is known at all', async t => {
  const it = await setUp(t);
  it.say({});
  const stream = openStream(t, it.port, EDS, 'DeltaEndpoints');
  stream.send({ type_url: CLUSTER_LOAD_ASSIGNMENT, resource_names_subscribe: ['a'] });
  await stream.next();
  assert.deepEqual((await it.status()).unknown_names, ['a']);
  it.say({ a: [one] });
  assert.deepEqual((await it.status()).unknown_names, []);
});

test('metrics count instances, clients and answers', async t => {
  const it = await setUp(t);
  it.say({ a: [one, two] });
  const stream = openStream(t, it.port, EDS, 'DeltaEndpoints');
  stream.send({ type_url: CLUSTER_LOAD_ASSIGNMENT, resource_names_subscribe: ['a'] });
  const { nonce } = await stream.next();
  const error_detail = { code: 3, message: 'no' };
  stream.send({ type_url: CLUSTER_LOAD_ASSIGNMENT, response_nonce: nonce, error_detail });
  await until(async () =>
    /sds_responses_total\{answer="nack"\} 1/.test(await it.get('/metrics')) ? true : undefined,
  );
  const metrics = await it.get('/metrics');
  assert.match(metrics, /^sds_instances\{service="a"\} 2$/m);
  assert.match(metrics, /^sds_clients 1$/m);
});

async function health(port: number): Promise<string> {
  const Health = makeClientConstructor(healthService, 'Health');
  const client = new Health(`127.0.0.1:${port}`, credentials.createInsecure());
  const check = client.check as (
    request: object,
    reply: (e: Error | null, r: { status: string }) => void,
  ) => void;
  try {
    return await new Promise((resolve, reject) => {
      check.call(client, { service: '' }, (error, response) =>
        error ? reject(error) : resolve(response.status),
      );
    });
  } finally {
    client.close();
  }
}
