import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { type TestContext, test } from 'node:test';
import { credentials } from '@grpc/grpc-js';
import { promised } from '#envoy/e2e/promised.ts';
import { until } from '#envoy/e2e/until.ts';
import { after } from '#process/after.ts';
import { connect } from './client.ts';
import { type Snapshot, snapshotOf } from './snapshot.ts';
import { startDiscoveryServer } from './testing/discovery-server.ts';
import { contentOf, resource } from './testing/resources.ts';

const POLICY = 'type.googleapis.com/test.Policy';
const LIMIT = 'type.googleapis.com/test.Limit';

function policies(contents: Readonly<Record<string, string>>): Snapshot {
  return snapshotOf(
    Object.entries(contents).map(([name, content]) => resource(name, content, POLICY)),
  );
}

/** A client that applies and ACKs what does not hold `bad`. */
function startClient(
  t: TestContext,
  port: number,
  typeUrls: readonly string[] = [POLICY],
  keepaliveMs = 10_000,
) {
  const holds = new Map<string, string>();
  const updates: string[] = [];
  const completes: boolean[] = [];
  const disconnects: string[] = [];
  const connection = connect({
    address: `127.0.0.1:${port}`,
    credentials: credentials.createInsecure(),
    node: { id: 'service-1', cluster: 'edge' },
    typeUrls,
    onUpdate({ typeUrl, changed, removed, complete, ack, nack }) {
      completes.push(complete);
      updates.push([typeUrl.slice(-6), changed.map(({ name }) => name), removed].flat().join(' '));
      if (changed.some(({ name, any }) => contentOf(name, any) === 'bad'))
        return nack('bad policy');
      for (const { name, any } of changed) holds.set(name, contentOf(name, any));
      for (const name of removed) holds.delete(name);
      ack();
    },
    onDisconnect: reason => disconnects.push(reason),
    onReconnect: () => disconnects.push('back'),
    random: Math.random,
    after,
    keepaliveMs,
  });
  t.after(() => connection.close());
  return { holds, updates, completes, disconnects };
}

test('a client gets what is there, then only what changes or goes, of each type', async t => {
  const { cache, port } = await startDiscoveryServer(t);
  cache.set('edge', policies({ a: '1', b: '1' }));
  const { updates } = startClient(t, port, [POLICY, LIMIT]);
  await until(() => (updates.length === 2 ? true : undefined));
  cache.set('edge', policies({ a: '2' }));
  await until(() => (updates.length === 3 ? true : undefined));
  assert.deepEqual(updates, ['Policy a b', '.Limit', 'Policy a b']);
});

test('what a client refuses is told to the server, and the last good stays', async t => {
  const messages: string[] = [];
  const { cache, port } = await startDiscoveryServer(t, {
    nacked: (_stream, nack) => messages.push(nack.message),
  });
  cache.set('edge', policies({ a: '1' }));
  const { holds, completes } = startClient(t, port);
  await until(() => (holds.size === 1 ? true : undefined));
  cache.set('edge', policies({ a: 'bad' }));
  await until(() => messages[0]);
  assert.deepEqual([messages, [...holds]], [['bad policy'], [['a', '1']]]);
  assert.deepEqual(completes, [true, true]);
  cache.set('edge', policies({ a: '2' }));
  await until(() => (holds.get('a') === '2' ? true : undefined));
  assert.equal(completes.at(-1), true, 'also after a NACK');
});

test('a client keeps what it has during an outage, comes back within 1 s, and is sent only what changed', async t => {
  const first = await startDiscoveryServer(t);
  first.cache.set('edge', policies({ a: '1', b: '1', c: '1' }));
  const { holds, updates, disconnects } = startClient(t, first.port);
  await until(() => (holds.size === 3 ? true : undefined));
  await first.stop();
  await until(() => (disconnects.length === 1 ? true : undefined));
  assert.equal(holds.size, 3);
  const again = await startDiscoveryServer(t, {}, first.port);
  const start = performance.now();
  again.cache.set('edge', policies({ a: '1', b: '2' }));
  await until(() => (holds.get('b') === '2' && !holds.has('c') ? true : undefined));
  assert.ok(performance.now() - start < promised(1_000));
  assert.deepEqual(updates, ['Policy a b c', 'Policy b c']);
});

test('each outage is told, and its end, though nothing has changed meanwhile', async t => {
  let server = await startDiscoveryServer(t);
  server.cache.set('edge', policies({ a: '1' }));
  const { holds, disconnects, updates } = startClient(t, server.port);
  await until(() => (holds.size === 1 ? true : undefined));
  for (const outage of [1, 2]) {
    await server.stop();
    await until(() => (disconnects.length === 2 * outage - 1 ? true : undefined));
    server = await startDiscoveryServer(t, {}, server.port);
    server.cache.set('edge', policies({ a: '1' }));
    await until(() => (disconnects.length === 2 * outage ? true : undefined));
  }
  assert.deepEqual([disconnects[1], disconnects[3], updates.length], ['back', 'back', 1]);
});

test('a client takes 10,000 resources of 4 KiB', async t => {
  const { cache, service, port } = await startDiscoveryServer(t);
  const content = 'x'.repeat(4_096);
  cache.set(
    'edge',
    policies(Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`r${i}`, content]))),
  );
  const { holds, updates, completes } = startClient(t, port);
  await until(() => (holds.size === 10_000 ? true : undefined));
  await until(() => (service.streams()[0]?.standing === 'settled' ? true : undefined));
  assert.ok(updates.length > 10, 'it comes in parts of 2 MiB');
  assert.deepEqual(
    completes,
    updates.map((_, index) => index === updates.length - 1),
    'only the last part makes it complete',
  );
});

test('a peer that is silent without a word is noticed', async t => {
  const server = await startDiscoveryServer(t);
  server.cache.set('edge', policies({ a: '1' }));
  const sockets: net.Socket[] = [];
  const relay = net.createServer(socket => {
    const upstream = net.connect(server.port, '127.0.0.1');
    for (const one of [socket, upstream]) one.on('error', () => {}); // either side may cut it
    sockets.push(socket, upstream);
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    relay.close();
    for (const socket of sockets) socket.destroy();
  });
  const { holds, disconnects } = startClient(
    t,
    (relay.address() as net.AddressInfo).port,
    [POLICY],
    100,
  );
  await until(() => (holds.size === 1 ? true : undefined));
  for (const socket of sockets.splice(0)) socket.unpipe().pause();
  await until(() => disconnects[0]);
  server.cache.set('edge', policies({ a: '2' }));
  await until(() => (holds.get('a') === '2' ? true : undefined));
});

test('a server that accepts and then says nothing is given up for the next one', async t => {
  const { cache, port } = await startDiscoveryServer(t);
  cache.set('edge', policies({ a: '1' }));
  const sockets: net.Socket[] = [];
  const balancer = net.createServer(socket => {
    sockets.push(socket.on('error', () => {}));
    if (sockets.length > 1)
      socket.pipe(net.connect(port, '127.0.0.1').on('error', () => {})).pipe(socket);
  });
  await once(balancer.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    balancer.close();
    for (const socket of sockets) socket.destroy();
  });
  const { disconnects, holds } = startClient(
    t,
    (balancer.address() as net.AddressInfo).port,
    [POLICY],
    300,
  );
  await until(() => (holds.size === 1 ? true : undefined));
  assert.deepEqual(disconnects, ['no connection within 0.3 s', 'back']);
});
