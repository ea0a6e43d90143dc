import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { until } from '#envoy/e2e/until.ts';
import { messageType } from '#protos/root.ts';
import { CLUSTER, LISTENER } from '#protos/type-url.ts';
import { snapshotOf } from './snapshot.ts';
import { type AnyResponse, DiscoveryChannel } from './testing/discovery-client.ts';
import { startDiscoveryServer } from './testing/discovery-server.ts';
import { resource } from './testing/resources.ts';

const KEPT = Array.from({ length: 2_000 }, (_, at) => resource(`cluster-${at}`, '1'));
const VERSIONS = Object.fromEntries(KEPT.map(({ name, version }) => [name, version]));
const NEW = resource('new', '1');

async function setUp(t: TestContext) {
  const server = await startDiscoveryServer(t, {}, 0, undefined, 10);
  server.cache.set('edge', snapshotOf([...KEPT, NEW, resource('edge', '1', LISTENER)]));
  const open = (method = 'DeltaAggregatedResources') => {
    const channel = new DiscoveryChannel(server.port);
    const client = channel.open(method);
    t.after(() => {
      client.cancel();
      channel.close();
    });
    return client;
  };
  return { ...server, open };
}

const namesOf = ({ resources }: AnyResponse) => resources.map(({ name }) => name);

/** The first request of a client that holds all but what is new, and one thing that went. */
const RETURN = {
  type_url: CLUSTER,
  resource_names_subscribe: ['*'],
  initial_resource_versions: { ...VERSIONS, gone: '1' },
};

describe('a client that returns with thousands of resources', () => {
  test('is told what is new and what went', async t => {
    const { open } = await setUp(t);
    const client = open();
    client.begin(RETURN);
    const first = await client.next();
    assert.deepEqual([namesOf(first), first.removed_resources], [['new'], []]);
    client.ack(first);
    const second = await client.next();
    assert.deepEqual([namesOf(second), second.removed_resources], [[], ['gone']]);
  });

  test('is told nothing when nothing is new, and the next change alone', async t => {
    const { cache, service, open } = await setUp(t);
    cache.set('edge', snapshotOf(KEPT));
    const client = open();
    client.begin({ ...RETURN, initial_resource_versions: VERSIONS });
    await until(() => service.streams()[0]?.types[CLUSTER]);
    cache.set('edge', snapshotOf([...KEPT, NEW]));
    const next = await client.next();
    assert.deepEqual([namesOf(next), next.removed_resources], [['new'], []]);
  });

  test('is heard in the order of its requests', async t => {
    const { open } = await setUp(t);
    const client = open();
    client.begin(RETURN);
    client.send({ type_url: CLUSTER, resource_names_unsubscribe: ['*'] });
    client.send({ type_url: CLUSTER, resource_names_subscribe: ['cluster-7'] });
    const first = await client.next();
    assert.deepEqual(namesOf(first), ['new'], 'it asked for all when it was heard first');
    client.ack(first);
    assert.deepEqual(namesOf(await client.next()), ['cluster-7']);
  });

  test('may end its stream at once', async t => {
    const { service, open } = await setUp(t);
    const leaving = open();
    leaving.begin(RETURN);
    leaving.halfClose();
    assert.equal((await leaving.ended()).code, status.OK);
    const cancelled = open();
    cancelled.begin(RETURN);
    cancelled.cancel();
    const staying = open();
    staying.begin(RETURN);
    await staying.next();
    await until(() => (service.size === 1 ? true : undefined));
  });
});

describe('a client that returns with a hundred thousand resources', () => {
  const names = Array.from({ length: 100_000 }, (_, at) => `${'n'.repeat(60)}-${at}`);
  const held = {
    ...RETURN,
    initial_resource_versions: Object.fromEntries(names.map(name => [name, '0123456789abcdef'])),
  };

  test('is served, although its request is longer than most servers take', async t => {
    const { cache, open } = await setUp(t);
    cache.set('edge', snapshotOf([NEW]));
    const client = open();
    client.begin(held);
    assert.deepEqual(namesOf(await client.next()), ['new']);
  });

  test('is refused when it brings more bytes than a stream may, and the others are served', async t => {
    const { open } = await setUp(t);
    const client = open();
    client.begin({ ...held, resource_names_unsubscribe: [...names, ...names] });
    assert.equal((await client.ended()).code, status.RESOURCE_EXHAUSTED);
    const other = open();
    other.begin(RETURN);
    assert.deepEqual(namesOf(await other.next()), ['new']);
  });
});

const DELTA = messageType('envoy.service.discovery.v3.DeltaDiscoveryRequest');
const part = (fields: object) => Buffer.from(DELTA.encode(fields).finish());
const NODE = part({ node: { id: 'n', cluster: 'edge' }, type_url: CLUSTER });

const UNREADABLE = [
  ['is cut off', Buffer.from([10])],
  ['has a name that is no UTF-8', Buffer.concat([NODE, Buffer.from('1a01ff', 'hex')])],
  ['brings a name that is no UTF-8', Buffer.concat([NODE, Buffer.from('2a030a01ff', 'hex')])],
  ['brings an entry that is cut off', Buffer.concat([NODE, Buffer.from('2a020a05', 'hex')])],
  ['is large, and cut off', Buffer.concat([NODE, part(RETURN), Buffer.from([10])])],
] as const;

for (const [what, bytes] of UNREADABLE)
  test(`a request that ${what} ends its stream alone`, async t => {
    const { open } = await setUp(t);
    const other = open();
    other.begin(RETURN);
    const client = open();
    client.send(bytes);
    const { code, details } = await client.ended();
    assert.deepEqual([code, details], [status.INTERNAL, 'Error deserializing request']);
    assert.equal((await other.next()).type_url, CLUSTER);
  });

test('a state of the world that cannot be read ends its stream', async t => {
  const { open } = await setUp(t);
  const client = open('StreamAggregatedResources');
  client.send(Buffer.from([10]));
  assert.equal((await client.ended()).code, status.INTERNAL);
});
