import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { credentials, makeClientConstructor, type ServiceError, status } from '@grpc/grpc-js';
import { promised } from '#envoy/e2e/promised.ts';
import { until } from '#envoy/e2e/until.ts';
import { serviceDefinition } from '#grpc/service.ts';
import {
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  LISTENER,
  ROUTE_CONFIGURATION,
  SECRET,
} from '#protos/type-url.ts';
import type { Peer } from './peer.ts';
import { MAX_NAMES } from './request-check.ts';
import { snapshotOf } from './snapshot.ts';
import { collectGarbage } from './testing/collect-garbage.ts';
import { ADS, DiscoveryChannel } from './testing/discovery-client.ts';
import { startDiscoveryServer } from './testing/discovery-server.ts';
import { resource } from './testing/resources.ts';

const deltaRequest = (request: object): Buffer =>
  serviceDefinition(ADS).DeltaAggregatedResources?.requestSerialize(request) ??
  assert.fail('no such method');

const TYPES = [CLUSTER, CLUSTER_LOAD_ASSIGNMENT, LISTENER, ROUTE_CONFIGURATION, SECRET];
const ONE_OF_EACH = snapshotOf(TYPES.map(typeUrl => resource('a', '1', typeUrl)));

async function setUp(
  t: TestContext,
  refuse?: (group: string, peer: Peer) => string | undefined,
  keptMs?: number,
  mostNames?: number,
) {
  const events: string[] = [];
  const server = await startDiscoveryServer(
    t,
    {
      connected: ({ node, group }) => events.push(`connected ${node} ${group}`),
      disconnected: ({ node }) => events.push(`disconnected ${node}`),
      nacked: (_stream, { names, message }) => events.push(`nacked ${names} ${message}`),
    },
    0,
    refuse,
    keptMs,
    mostNames,
  );
  const open = (method: string, service = ADS) => {
    const channel = new DiscoveryChannel(server.port);
    const client = channel.open(method, service);
    t.after(() => {
      client.cancel();
      channel.close();
    });
    return client;
  };
  return { ...server, events, open };
}

const PER_TYPE = [
  ['envoy.service.cluster.v3.ClusterDiscoveryService', 'Clusters', CLUSTER],
  ['envoy.service.endpoint.v3.EndpointDiscoveryService', 'Endpoints', CLUSTER_LOAD_ASSIGNMENT],
  ['envoy.service.listener.v3.ListenerDiscoveryService', 'Listeners', LISTENER],
  ['envoy.service.route.v3.RouteDiscoveryService', 'Routes', ROUTE_CONFIGURATION],
  ['envoy.service.secret.v3.SecretDiscoveryService', 'Secrets', SECRET],
] as const;

for (const [service, name, typeUrl] of PER_TYPE) {
  describe(service.slice(service.lastIndexOf('.') + 1), () => {
    test('streams its type, which requests need not name, as delta and state of the world', async t => {
      const { cache, open } = await setUp(t);
      cache.set('edge', ONE_OF_EACH);
      const delta = open(`Delta${name}`, service);
      delta.begin({ resource_names_subscribe: ['a'] });
      const first = await delta.next();
      assert.deepEqual([first.type_url, first.resources[0]?.name], [typeUrl, 'a']);
      const sotw = open(`Stream${name}`, service);
      sotw.begin({ resource_names: ['a'] });
      const { type_url, resources } = await sotw.next();
      assert.deepEqual([type_url, resources.length], [typeUrl, 1]);
    });

    test('is not fetched over gRPC, and refuses other types', async t => {
      const { port, open } = await setUp(t);
      const Client = makeClientConstructor(serviceDefinition(service), service);
      const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
      t.after(() => client.close());
      const error = await new Promise<ServiceError>(resolve =>
        client[`Fetch${name}`]?.({}, resolve),
      );
      assert.equal(error.code, status.UNIMPLEMENTED);
      const stream = open(`Delta${name}`, service);
      stream.begin({ type_url: 'type.googleapis.com/other' });
      assert.equal((await stream.ended()).code, status.INVALID_ARGUMENT);
    });
  });
}

test('an aggregated stream carries every type, and the newest snapshot', async t => {
  const { cache, service, open } = await setUp(t);
  const client = open('DeltaAggregatedResources');
  client.begin({ type_url: CLUSTER });
  client.send({ type_url: SECRET, resource_names_subscribe: ['a'] });
  await until(() => service.streams()[0]?.types[SECRET]);
  assert.deepEqual(client.received, [], 'nothing is sent before the first snapshot');
  cache.set('edge', ONE_OF_EACH);
  const types = [await client.next(), await client.next()].map(({ type_url }) => type_url);
  assert.deepEqual(types, [CLUSTER, SECRET]);
});

test('streams for each type of one client are led together: routes follow the ACK of clusters', async t => {
  const { cache, port } = await setUp(t, undefined, 10);
  const channel = new DiscoveryChannel(port);
  t.after(() => channel.close());
  cache.set('edge', snapshotOf([resource('a', '1'), resource('edge', 'a', ROUTE_CONFIGURATION)]));
  const clusters = channel.open(
    'DeltaClusters',
    'envoy.service.cluster.v3.ClusterDiscoveryService',
  );
  const routes = channel.open('DeltaRoutes', 'envoy.service.route.v3.RouteDiscoveryService');
  clusters.begin({});
  clusters.ack(await clusters.next());
  routes.begin({ resource_names_subscribe: ['edge'] });
  routes.ack(await routes.next());
  cache.set('edge', snapshotOf([resource('b', '1'), resource('edge', 'b', ROUTE_CONFIGURATION)]));
  const added = await clusters.next();
  assert.deepEqual([added.removed_resources, routes.received], [[], []]);
  clusters.ack(added);
  routes.ack(await routes.next());
  assert.deepEqual((await clusters.next()).removed_resources, ['a']);
});

test('each group is served its own snapshot', async t => {
  const { cache, open } = await setUp(t);
  for (const group of ['one', 'two']) cache.set(group, snapshotOf([resource(group, '1')]));
  for (const group of ['one', 'two']) {
    const client = open('DeltaAggregatedResources');
    client.send({ node: { id: 'n', cluster: group }, type_url: CLUSTER });
    assert.equal((await client.next()).resources[0]?.name, group);
  }
});

test('streams tell who is connected, what each was sent, ACKed and rejected', async t => {
  const { cache, service, open, events } = await setUp(t);
  cache.set('edge', snapshotOf([resource('a', '1')]));
  const client = open('DeltaAggregatedResources');
  client.begin({ type_url: CLUSTER }, 'proxy-1');
  client.ack(await client.next());
  await until(() => (service.streams()[0]?.standing === 'settled' ? true : undefined));
  cache.set('edge', snapshotOf([resource('a', '2')]));
  const error_detail = { code: 13, message: `bad ${'x'.repeat(10_000)}` };
  client.ack(await client.next(), { error_detail });
  const stream = await until(() =>
    service.streams().find(({ standing }) => standing === 'rejected'),
  );
  const types = stream.types[CLUSTER];
  assert.deepEqual([stream.node, stream.group, stream.variant], ['proxy-1', 'edge', 'delta']);
  assert.match(stream.address, /^127\.0\.0\.1:\d+$/);
  assert.notEqual(types?.sent, types?.acked);
  assert.equal(types?.nack?.message.length, 2_000);
  client.cancel();
  await until(() => (service.streams().length === 0 ? true : undefined));
  assert.deepEqual(
    events.map(event => event.slice(0, 20)),
    ['connected proxy-1 edg', 'nacked a bad xxxxxxxx', 'disconnected proxy-1'].map(event =>
      event.slice(0, 20),
    ),
  );
});

describe('odd clients', () => {
  const BAD: readonly [what: string, request: object, code: status, details: RegExp][] = [
    ['without a node', { type_url: CLUSTER }, status.INVALID_ARGUMENT, /node\.id/],
    [
      'without a node id',
      { node: { cluster: 'edge' }, type_url: CLUSTER },
      status.INVALID_ARGUMENT,
      /node\.id/,
    ],
    ['without a type', { node: { id: 'n' } }, status.INVALID_ARGUMENT, /type_url/],
    [
      'that subscribes to very many names',
      {
        node: { id: 'n' },
        type_url: CLUSTER,
        resource_names_subscribe: Array.from({ length: MAX_NAMES + 1 }, (_, i) => `n${i}`),
      },
      status.RESOURCE_EXHAUSTED,
      /250000 names/,
    ],
  ];
  for (const [what, request, code, details] of BAD) {
    test(`a client ${what} is closed with a status`, async t => {
      const { service, open } = await setUp(t);
      const client = open('DeltaAggregatedResources');
      client.send(request);
      const ended = await client.ended();
      assert.equal(ended.code, code);
      assert.match(ended.details, details);
      assert.deepEqual(service.streams(), []);
    });
  }

  test('a client that names more types than there are is closed', async t => {
    const { open } = await setUp(t);
    const client = open('DeltaAggregatedResources');
    for (let i = 0; i < 50; i += 1) client.begin({ type_url: `type.googleapis.com/t${i}` });
    assert.equal((await client.ended()).code, status.RESOURCE_EXHAUSTED);
  });

  test('of streams that have too many names together, the one with the most is closed', async t => {
    const { service, open } = await setUp(t, undefined, undefined, 100);
    const begin = (names: number) => {
      const client = open('DeltaAggregatedResources');
      const resource_names_subscribe = Array.from({ length: names }, (_, i) => `n${i}`);
      client.begin({ type_url: ROUTE_CONFIGURATION, resource_names_subscribe });
      return client;
    };
    const small = begin(20);
    await until(() => (service.size === 1 ? true : undefined));
    const large = begin(70);
    await until(() => (service.size === 2 ? true : undefined));
    begin(30);
    const { code, details } = await large.ended();
    assert.equal(code, status.RESOURCE_EXHAUSTED);
    assert.match(details, /too many names/);
    assert.deepEqual([service.size, small.status], [2, undefined]);
    // What the closed one had is free again.
    begin(40);
    await until(() => (service.size === 3 ? true : undefined));
  });

  for (const [when, snapshot] of [
    ['before there is a snapshot', undefined],
    ['which are not served any more', snapshotOf([resource('a', '1')])],
  ] as const)
    test(`names from an earlier stream count, too, ${when}`, async t => {
      const { cache, service, open } = await setUp(t, undefined, undefined, 100);
      if (snapshot !== undefined) cache.set('edge', snapshot);
      const small = open('DeltaAggregatedResources');
      small.begin({ type_url: ROUTE_CONFIGURATION, resource_names_subscribe: ['n'] });
      await until(() => (service.size === 1 ? true : undefined));
      const large = open('DeltaAggregatedResources');
      const held = Array.from({ length: 1_000 }, (_, i) => [`n${i}`, '0123456789abcdef']);
      large.begin({ type_url: CLUSTER, initial_resource_versions: Object.fromEntries(held) });
      assert.match((await large.ended()).details, /too many names/);
      assert.equal(small.status, undefined);
    });

  test('names that add up over requests are bounded too', async t => {
    const { open } = await setUp(t);
    const client = open('DeltaAggregatedResources');
    for (const prefix of ['a', 'b', 'c']) {
      const length = MAX_NAMES * 0.6;
      const resource_names_subscribe = Array.from({ length }, (_, i) => `${prefix}${i}`);
      client.begin({ type_url: ROUTE_CONFIGURATION, resource_names_subscribe });
    }
    assert.equal((await client.ended()).code, status.RESOURCE_EXHAUSTED);
  });

  test('a first message that comes twice is answered, and answered again', async t => {
    const { cache, open } = await setUp(t);
    cache.set('edge', ONE_OF_EACH);
    const client = open('DeltaAggregatedResources');
    for (let i = 0; i < 2; i += 1)
      client.begin({ type_url: CLUSTER, resource_names_subscribe: ['a'] });
    client.ack(await client.next());
    client.ack(await client.next());
    assert.deepEqual(client.received, []);
  });

  test('a client that closes its half is sent what was due, then the end', async t => {
    const { cache, service, open } = await setUp(t);
    cache.set('edge', ONE_OF_EACH);
    const client = open('DeltaAggregatedResources');
    client.begin({ type_url: CLUSTER });
    client.halfClose();
    assert.equal((await client.next()).resources.length, 1);
    assert.equal((await client.ended()).code, status.OK);
    assert.deepEqual(service.streams(), []);
  });

  test('bytes that are no request end their own stream only', async t => {
    const { cache, port, open } = await setUp(t);
    cache.set('edge', ONE_OF_EACH);
    const good = open('DeltaAggregatedResources');
    good.begin({ type_url: CLUSTER });
    good.ack(await good.next());
    const raw = {
      ...serviceDefinition(ADS).DeltaAggregatedResources,
      requestSerialize: (b: Buffer) => b,
    };
    const Raw = makeClientConstructor({ Raw: raw } as never, ADS);
    const client = new Raw(`127.0.0.1:${port}`, credentials.createInsecure());
    t.after(() => client.close());
    const call = (
      client.Raw as unknown as () => ReturnType<typeof client.makeBidiStreamRequest>
    ).call(client);
    const failed = new Promise<ServiceError>(resolve => call.on('error', resolve));
    call.write(Buffer.from('ffffffffff', 'hex'));
    assert.notEqual((await failed).code, status.OK);
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => {}); // the server may cut it
    socket.end(Buffer.from('PRI * garbage'));
    cache.set('edge', snapshotOf([resource('a', '2')]));
    assert.equal((await good.next()).resources.length, 1);
  });

  test('a stream that was closed keeps no names, though its client does not end it', async t => {
    const { port } = await setUp(t);
    const session = http2.connect(`http://127.0.0.1:${port}`).on('error', () => {});
    t.after(() => session.destroy());
    const call = session.request({
      ':method': 'POST',
      ':path': `/${ADS}/DeltaAggregatedResources`,
      'content-type': 'application/grpc',
    });
    const trailers = once(call.on('error', () => {}).resume(), 'trailers');
    const write = (request: object) => {
      const bytes = deltaRequest(request);
      const prefix = Buffer.alloc(5);
      prefix.writeUInt32BE(bytes.length, 1);
      call.write(Buffer.concat([prefix, bytes]));
    };
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    write({
      node: { id: 'n', cluster: 'edge' },
      type_url: ROUTE_CONFIGURATION,
      resource_names_subscribe: Array.from({ length: 200_000 }, (_, i) => `name-${i}`),
    });
    write({ type_url: '' });
    assert.equal((await trailers)[0]['grpc-status'], String(status.INVALID_ARGUMENT));
    const isFree = () => {
      collectGarbage();
      const grown = process.memoryUsage().heapUsed - before;
      t.diagnostic(`${Math.round(grown / 1e6)} MB`);
      return grown < 8_000_000 || undefined;
    };
    await until(isFree, 10_000, 'less than 8 MB');
    assert.equal(call.closed, false);
  });

  test('a client that ACKs and does not read costs no more than what the transport holds', async t => {
    const { cache, open } = await setUp(t);
    const big = (i: number) => snapshotOf([resource('a', `${i}${'x'.repeat(300_000)}`)]);
    cache.set('edge', big(0));
    const [slow, good] = [open('DeltaAggregatedResources'), open('DeltaAggregatedResources')];
    slow.pause();
    for (const client of [slow, good]) client.begin({ type_url: CLUSTER });
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 1; i <= 300; i += 1) {
      good.ack(await good.next());
      // Nonces count up: such a client can guess them.
      slow.send({ type_url: CLUSTER, response_nonce: String(i) });
      cache.set('edge', big(i));
    }
    // V8 frees buffers in another thread, after it has collected what holds them.
    const isFree = () => {
      collectGarbage();
      const grown = process.memoryUsage().arrayBuffers - before;
      t.diagnostic(`${Math.round(grown / 1e6)} MB`);
      return grown < 60_000_000 || undefined;
    };
    await until(isFree, 10_000, 'less than 60 MB');
  });
});

test('a server that stops ends its streams, so that clients come back at once', async t => {
  const { cache, open, stop } = await setUp(t);
  cache.set('edge', ONE_OF_EACH);
  const client = open('DeltaAggregatedResources');
  client.begin({ type_url: CLUSTER });
  await client.next();
  const start = performance.now();
  await stop();
  assert.equal((await client.ended()).code, status.UNAVAILABLE);
  assert.ok(performance.now() - start < promised(1_000));
});

test('a client that may not have the resources of its group is told why, and gets nothing', async t => {
  const refuse = (group: string, { address }: Peer) =>
    group === 'edge' ? `not for ${address.replace(/\d+$/, 'port')}` : undefined;
  const { cache, open } = await setUp(t, refuse);
  for (const group of ['edge', 'other']) cache.set(group, ONE_OF_EACH);
  const client = open('DeltaAggregatedResources');
  client.begin({ type_url: CLUSTER });
  const { code, details } = await client.ended();
  assert.deepEqual([code, details], [status.PERMISSION_DENIED, 'not for 127.0.0.1:port']);
  assert.deepEqual(client.received, []);
  const other = open('DeltaAggregatedResources');
  other.send({ node: { id: 'n', cluster: 'other' }, type_url: CLUSTER });
  assert.equal((await other.next()).resources.length, 1);
});
