import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { serve } from '#grpc/serve.ts';
import { after } from '#process/after.ts';
import { CLUSTER, CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import { DISCOVERY } from './discovery-methods.ts';
import type { DiscoveryObserver } from './discovery-observer.ts';
import { DiscoveryService } from './discovery-service.ts';
import { type Resources, snapshotOf, type XdsResource } from './snapshot.ts';
import { SnapshotCache } from './snapshot-cache.ts';
import { ADS, DiscoveryChannel } from './testing/discovery-client.ts';
import { resource, resources } from './testing/resources.ts';

const ENDPOINTS = 'envoy.service.endpoint.v3.EndpointDiscoveryService';

/** A mistake of ours: resources that cannot be asked for one of their names. */
class Broken extends Map<string, XdsResource> {
  readonly #name: string;

  constructor(all: Resources, name: string) {
    super();
    this.#name = name;
    for (const [key, value] of all) this.set(key, value);
  }

  override get(name: string): XdsResource | undefined {
    if (name === this.#name) throw new Error('a mistake');
    return super.get(name);
  }
}

async function setUp(t: TestContext, independent: boolean, observer: DiscoveryObserver = {}) {
  const failures: string[] = [];
  const cache = new SnapshotCache();
  const service = new DiscoveryService({
    cache,
    independent,
    observer: { ...observer, failed: (stream, error) => failures.push(`${stream?.node} ${error}`) },
    now: Date.now,
    after,
  });
  const served = await serve({
    host: '127.0.0.1',
    port: 0,
    services: service.implementations(),
    ...DISCOVERY,
  });
  t.after(async () => {
    service.close();
    await served.stop(100);
  });
  const channel = new DiscoveryChannel(served.port);
  t.after(() => channel.close());
  return { cache, service, failures, channel };
}

test('a state of the world that is too large is told as such, and ends its stream alone', async t => {
  const { cache, channel, failures } = await setUp(t, true);
  const value = Buffer.alloc(1024 * 1024);
  const large = Array.from({ length: 129 }, (_, at) => ({
    ...{ name: String(at), version: '1' },
    any: { type_url: CLUSTER_LOAD_ASSIGNMENT, value },
  }));
  cache.set('edge', snapshotOf(large));
  const [all, some] = [
    channel.open('StreamEndpoints', ENDPOINTS),
    channel.open('StreamEndpoints', ENDPOINTS),
  ];
  all.begin({ type_url: CLUSTER_LOAD_ASSIGNMENT, resource_names: large.map(({ name }) => name) });
  const { code, details } = await all.ended();
  assert.deepEqual([code, failures.length], [status.RESOURCE_EXHAUSTED, 1]);
  assert.match(details, /more than 134217728 bytes: ask for fewer names/);
  some.begin({ type_url: CLUSTER_LOAD_ASSIGNMENT, resource_names: ['1', '2'] });
  assert.equal((await some.next()).resources.length, 2);
});

const VARIANTS = [
  ['Delta', 'resource_names_subscribe'],
  ['Stream', 'resource_names'],
] as const;

for (const [variant, field] of VARIANTS) {
  test(`${variant}: an empty name ends its own stream, and the others go on`, async t => {
    const { cache, channel, failures } = await setUp(t, true);
    cache.set('edge', snapshotOf([resource('a', '1', CLUSTER_LOAD_ASSIGNMENT)]));
    const good = channel.open(`${variant}Endpoints`, ENDPOINTS);
    good.begin({ [field]: ['a'] });
    good.ack(await good.next(), variant === 'Stream' ? { [field]: ['a'] } : {});
    const bad = channel.open(`${variant}Endpoints`, ENDPOINTS);
    bad.begin({ [field]: ['a', ''] });
    assert.equal((await bad.ended()).code, status.INVALID_ARGUMENT);
    cache.set('edge', snapshotOf([resource('a', '2', CLUSTER_LOAD_ASSIGNMENT)]));
    assert.equal((await good.next()).resources.length, 1);
    assert.deepEqual(failures, []);
  });

  for (const independent of [true, false]) {
    const how = independent ? 'independent' : 'led together';
    test(`${variant}, ${how}: of streams of one client a mistake ends the one that it is about`, async t => {
      const { cache, service, channel, failures } = await setUp(t, independent);
      const first = resources({ good: '1', bad: '1' }, CLUSTER_LOAD_ASSIGNMENT);
      cache.set('edge', new Map([[CLUSTER_LOAD_ASSIGNMENT, first]]));
      const open = async (name: string) => {
        const client = channel.open(`${variant}Endpoints`, ENDPOINTS);
        client.begin({ [field]: [name] });
        client.ack(await client.next(), variant === 'Stream' ? { [field]: [name] } : {});
        return client;
      };
      const bad = await open('bad');
      const good = await open('good');
      const second = new Broken(resources({ good: '2', bad: '2' }, CLUSTER_LOAD_ASSIGNMENT), 'bad');
      cache.set('edge', new Map([[CLUSTER_LOAD_ASSIGNMENT, second]]));
      const { code, details } = await bad.ended();
      assert.deepEqual([code, details], [status.INTERNAL, 'internal error, see the log']);
      assert.equal((await good.next()).resources.length, 1);
      assert.equal(service.streams().length, 1);
      assert.deepEqual(failures, ['test Error: a mistake']);
    });
  }
}

const MOMENTS = ['connected', 'acked', 'nacked', 'settled', 'disconnected'] as const;

for (const moment of MOMENTS) {
  test(`who is told of "${moment}" and throws ends that stream, and no other`, async t => {
    const observer = {
      [moment]: ({ node }: { node: string }) => {
        if (node === 'bad') throw new Error('a mistake');
      },
    };
    const { cache, channel, failures } = await setUp(t, false, observer);
    cache.set('edge', snapshotOf([resource('a', '1')]));
    const good = channel.open('DeltaAggregatedResources', ADS);
    good.begin({ type_url: CLUSTER }, 'good');
    good.ack(await good.next());
    const bad = channel.open('DeltaAggregatedResources', ADS);
    bad.begin({ type_url: CLUSTER }, 'bad');
    if (moment !== 'connected') {
      const error_detail = moment === 'nacked' ? { code: 3, message: 'no' } : null;
      bad.ack(await bad.next(), { error_detail });
    }
    if (moment === 'disconnected') bad.halfClose();
    const { code } = await bad.ended();
    assert.equal(code, moment === 'disconnected' ? status.OK : status.INTERNAL);
    cache.set('edge', snapshotOf([resource('a', '2')]));
    assert.equal((await good.next()).resources.length, 1);
    assert.deepEqual(failures, ['bad Error: a mistake']);
  });
}

test('a reason that quotes half a character ends its stream alone', async t => {
  const { cache, channel, failures } = await setUp(t, true);
  cache.set('edge', snapshotOf([resource('a', '1', CLUSTER_LOAD_ASSIGNMENT)]));
  const client = channel.open('DeltaEndpoints', ENDPOINTS);
  client.begin({ resource_names_subscribe: ['a'] });
  client.ack(await client.next());
  client.send({ type_url: `${'x'.repeat(199)}😀` });
  assert.equal((await client.ended()).code, status.INVALID_ARGUMENT);
  assert.deepEqual(failures, []);
});
