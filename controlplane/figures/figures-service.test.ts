import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { expectGroups } from '#certificates/peer.ts';
import { refuseGroup } from '#controlplane/sources/secret-groups.ts';
import { until } from '#envoy/e2e/until.ts';
import { changingTls, testAuthority } from '#grpc/testing/test-authority.ts';
import { tlsClientCredentials } from '#grpc/tls-client.ts';
import {
  MAX_SAMPLES_A_SECOND,
  MAX_SAMPLES_OF_GROUP_A_SECOND,
  MAX_STREAMS_OF_CONNECTION,
} from './bounds.ts';
import {
  counter,
  EDGE_NODE,
  gauge,
  logEntry,
  logMessage,
  metricsMessage,
} from './testing/figure-messages.ts';
import { startFiguresServer } from './testing/figures-server.ts';

const A = 'route.requests.envoy_route.Mapping/default/a.envoy_response_code.200';
const B = 'route.requests.envoy_route.Mapping/default/b.envoy_response_code.200';

const requestsOf = (figures: Awaited<ReturnType<typeof startFiguresServer>>['figures'], id = 'a') =>
  figures.mappings().get(`Mapping/default/${id}`)?.lastMinute.requests ?? 0;

test('statistics in several messages add up', async t => {
  const { connect, figures } = await startFiguresServer(t);
  const stream = connect().metrics();
  stream.send(metricsMessage([counter(A, 2)], EDGE_NODE), metricsMessage([counter(A, 3)]));
  stream.end();
  assert.equal(await stream.code, status.OK);
  assert.equal(requestsOf(figures), 5);
});

for (const [what, message] of [
  ['no protobuf', Buffer.from('hello')],
  ['a message that is cut off', metricsMessage([counter(A, 1)], EDGE_NODE).subarray(0, -3)],
  ['no node', metricsMessage([counter(A, 1)])],
  ['a node without an id', metricsMessage([counter(A, 1)], { cluster: 'edge' })],
  ['nothing', Buffer.alloc(0)],
  ['a megabyte of zeros', Buffer.alloc(2 ** 20)],
] as const) {
  test(`a client that sends ${what} loses its stream, and no other`, async t => {
    const { connect, failures, figures } = await startFiguresServer(t);
    const client = connect();
    const [good, bad] = [client.metrics(), client.metrics()];
    good.send(metricsMessage([counter(A, 1)], EDGE_NODE));
    bad.send(message);
    assert.equal(await bad.code, status.INVALID_ARGUMENT);
    good.send(metricsMessage([counter(A, 1)]));
    good.end();
    assert.equal(await good.code, status.OK);
    assert.equal(requestsOf(figures), 2);
    assert.deepEqual(failures, []);
  });
}

for (const [what, message] of [
  ['no protobuf', Buffer.from('hello')],
  ['no node', logMessage([logEntry('/a', 200)])],
] as const) {
  test(`a client that logs ${what} loses its stream`, async t => {
    const { connect, failures, figures } = await startFiguresServer(t);
    const stream = connect().logs();
    stream.send(message);
    assert.equal(await stream.code, status.INVALID_ARGUMENT);
    assert.deepEqual([figures.requests(), failures], [[], []]);
  });
}

test('a message of more than 4 MiB ends its stream', async t => {
  const { connect } = await startFiguresServer(t);
  const stream = connect().metrics();
  stream.send(Buffer.alloc(4 * 2 ** 20 + 1));
  assert.equal(await stream.code, status.RESOURCE_EXHAUSTED);
});

test('a proxy pushes figures of the routes and clusters of its own group alone', async t => {
  const { connect, figures } = await startFiguresServer(t);
  const stream = connect().metrics();
  const names = Array.from({ length: 5_000 }, (_, index) => [
    counter(`route.requests.envoy_route.Mapping/default/x${index}.envoy_response_code.200`, 1),
    gauge(`cluster.x${index}.membership_total`, 1),
  ]).flat();
  const own = [counter(A, 1), gauge('cluster.shop.membership_total', 1)];
  const foreign = [counter(B, 1), counter('http.orders.downstream_rq_completed', 1)];
  stream.send(metricsMessage([...names, ...own, ...foreign], EDGE_NODE));
  stream.end();
  await stream.code;
  assert.deepEqual([...figures.mappings().keys()], ['Mapping/default/a']);
  assert.deepEqual(
    figures.upstreams().map(({ cluster }) => cluster),
    ['shop'],
  );
  assert.deepEqual(figures.traffic({ group: 'orders' }).requests.filter(Boolean), []);
});

test('a proxy logs requests of its own routes alone, and none of the future', async t => {
  const { connect, figures } = await startFiguresServer(t);
  const stream = connect().logs();
  const before = Date.now();
  const entries = [
    logEntry('/own', 503, { start_time: { seconds: before } }),
    logEntry('/foreign', 503, {
      start_time: { seconds: Math.floor(before / 1_000) },
      route_name: 'Mapping/default/b',
    }),
  ];
  stream.send(logMessage(entries, EDGE_NODE));
  stream.end();
  await stream.code;
  const [foreign, own] = figures.requests();
  assert.deepEqual([foreign?.path, foreign?.route], ['/foreign', '']);
  assert.deepEqual([own?.path, own?.route], ['/own', 'Mapping/default/a']);
  assert.ok(own !== undefined && own.at >= before && own.at <= Date.now());
});

test('the number of streams on a connection is bounded', async t => {
  const { connect, figures } = await startFiguresServer(t);
  const client = connect();
  const streams = Array.from({ length: MAX_STREAMS_OF_CONNECTION }, () => client.metrics());
  for (const stream of streams) stream.send(metricsMessage([counter(A, 1)], EDGE_NODE));
  await until(() => requestsOf(figures) === MAX_STREAMS_OF_CONNECTION || undefined);
  const late = client.metrics();
  late.send(metricsMessage([counter(A, 1)], EDGE_NODE));
  assert.equal(await late.code, status.RESOURCE_EXHAUSTED);
  for (const stream of streams) stream.end();
  await Promise.all(streams.map(({ code }) => code));
  const next = client.metrics();
  next.send(metricsMessage([counter(A, 1)], EDGE_NODE));
  next.end();
  assert.equal(await next.code, status.OK);
});

test('of a flood of requests only so many are read in a second, and those of others beside', async t => {
  const now = 2_000_000;
  const { connect, figures } = await startFiguresServer(t, { now: () => now });
  const common = { start_time: { seconds: now / 1_000 } };
  const entries = Array.from({ length: 1_000 }, () => logEntry('/a', 200, common));
  const flood = async (group: string) => {
    const stream = connect().logs();
    stream.send(logMessage(entries, { id: 'a', cluster: group }), logMessage(entries));
    stream.end();
    assert.equal(await stream.code, status.OK);
    return figures.requests({ group, limit: 10_000 }).length;
  };
  assert.equal(await flood('orders'), MAX_SAMPLES_OF_GROUP_A_SECOND);
  assert.equal(await flood('edge'), MAX_SAMPLES_OF_GROUP_A_SECOND);
  assert.equal(await flood('other'), 0);
  assert.equal(figures.requests({ limit: 10_000 }).length, MAX_SAMPLES_A_SECOND);
});

test('after the clock was set back the share of sampled requests follows the load', async t => {
  let now = 8_000_000;
  const { connect, figures } = await startFiguresServer(t, { now: () => now });
  const weightAt = async (requests: number) => {
    const client = connect();
    const metrics = client.metrics();
    const pushed = counter('http.edge.downstream_rq_completed', requests);
    metrics.send(metricsMessage([pushed], EDGE_NODE));
    metrics.end();
    assert.equal(await metrics.code, status.OK);
    const logs = client.logs();
    const common = { start_time: { seconds: now / 1_000 } };
    logs.send(logMessage([logEntry('/a', 200, common)], EDGE_NODE));
    logs.end();
    assert.equal(await logs.code, status.OK);
    return figures.requests()[0]?.weight;
  };
  assert.equal(await weightAt(1), 1);
  now -= 3_600_000;
  assert.equal(await weightAt(1), 1);
  now += 2_000;
  assert.ok(Number(await weightAt(1_000_000)) > 1);
});

test('a proxy is a source as long as its stream is open', async t => {
  const { connect, figures } = await startFiguresServer(t);
  const client = connect();
  const stream = client.metrics();
  stream.send(metricsMessage([counter(A, 1)], EDGE_NODE));
  await until(() => figures.sources().length === 1 || undefined);
  client.close();
  stream.end();
  await until(() => figures.sources().length === 0 || undefined);
});

/** Sends as the group of the certificate, and claims to be a node of `claimed`. */
async function pushAs(t: TestContext, identity: string, claimed: string) {
  const authority = await testAuthority();
  const issue = (group: string) => authority.issue(`spiffe://gateway.internal/group/${group}`);
  const trust = { trustDomain: 'gateway.internal', plaintextSecrets: false };
  const { connect, figures } = await startFiguresServer(t, {
    tls: changingTls(await issue('controlplane')).options,
    refuse: ({ group }, peer) => refuseGroup(group, peer, trust),
  });
  const material = { ...(await issue(identity)), ca: authority.ca };
  const source = { current: () => material, onChange: () => () => {} };
  const check = expectGroups(['controlplane'], trust.trustDomain);
  const client = connect(tlsClientCredentials(source, check));
  const node = { id: 'x', cluster: claimed };
  const metrics = client.metrics();
  metrics.send(metricsMessage([counter(A, 1)], node));
  metrics.end();
  const logs = client.logs();
  logs.send(logMessage([logEntry('/a', 500)], node));
  logs.end();
  return { codes: [await metrics.code, await logs.code], figures };
}

test('by mutual TLS a proxy pushes what it counted', async t => {
  const { codes, figures } = await pushAs(t, 'edge', 'edge');
  assert.deepEqual(codes, [status.OK, status.OK]);
  assert.equal(requestsOf(figures), 1);
});

test('by mutual TLS no proxy pushes in the name of another group', async t => {
  const { codes, figures } = await pushAs(t, 'orders', 'edge');
  assert.deepEqual(codes, [status.PERMISSION_DENIED, status.PERMISSION_DENIED]);
  assert.deepEqual([figures.requests(), [...figures.mappings()]], [[], []]);
});
