import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { credentials, status } from '@grpc/grpc-js';
import { until } from '#envoy/e2e/until.ts';
import { after } from '#process/after.ts';
import { CLUSTER, REPORT } from '#protos/type-url.ts';
import { connect } from './client.ts';
import { MAX_REPORT_BYTES, reportRequest } from './report.ts';
import { snapshotOf } from './snapshot.ts';
import { saying, startReportServer } from './testing/report-server.ts';
import { resource } from './testing/resources.ts';

const POLICY = 'type.googleapis.com/test.Policy';

function startClient(t: TestContext, port: number, typeUrls: readonly string[] = [POLICY]) {
  const updates: string[] = [];
  const connection = connect({
    address: `127.0.0.1:${port}`,
    credentials: credentials.createInsecure(),
    node: { id: 'service-1', cluster: 'service' },
    typeUrls,
    onUpdate({ changed, ack }) {
      updates.push(...changed.map(({ name }) => name));
      ack();
    },
    random: Math.random,
    after,
  });
  t.after(() => connection.close());
  return { ...connection, updates };
}

const NODE = { node: { id: 'n', cluster: 'service' } };

test('a report reaches the server, replaces the one before, and is taken back', async t => {
  const server = await startReportServer(t);
  const client = startClient(t, server.port);
  client.report(saying('one'));
  await server.hears('one');
  client.report(saying('two'));
  await server.hears('two');
  client.report(undefined);
  await server.hears();
});

test('each stream has its own, which goes with it', async t => {
  const server = await startReportServer(t);
  const [first, second] = [startClient(t, server.port), startClient(t, server.port)];
  first.report(saying('first'));
  second.report(saying('second'));
  await server.hears('first', 'second');
  first.close();
  await server.hears('second');
});

test('a report that stands is told again after an outage, one that was taken back is not', async t => {
  const first = await startReportServer(t);
  const [standing, over] = [startClient(t, first.port), startClient(t, first.port)];
  standing.report(saying('one'));
  over.report(saying('over'));
  await first.hears('one', 'over');
  await first.stop();
  await first.hears();
  over.report(undefined);
  const again = await startReportServer(t, first.port);
  await again.hears('one');
  await until(() => (again.service.streams().length === 2 ? true : undefined));
  assert.deepEqual(again.said(), ['one']);
});

test('what is reported changes nothing of what is served', async t => {
  const { cache, hears, port, service } = await startReportServer(t);
  const client = startClient(t, port);
  client.report(saying('one'));
  cache.set('service', snapshotOf([resource('a', '1', POLICY)]));
  await until(() => client.updates[0]);
  await hears('one');
  await until(() => (service.streams()[0]?.standing === 'settled' ? true : undefined));
  assert.deepEqual(Object.keys(service.streams()[0]?.types ?? {}), [POLICY]);
});

test('a client that only reports is heard, also after an outage, and is no client of what is served', async t => {
  const first = await startReportServer(t);
  const client = startClient(t, first.port, []);
  client.report(saying('one'));
  await first.hears('one');
  await first.stop();
  await first.hears();
  const { cache, hears, log, service } = await startReportServer(t, first.port);
  cache.set('service', snapshotOf([resource('a', '1', POLICY)]));
  await hears('one');
  client.report(saying('two'));
  await hears('two');
  assert.deepEqual([service.streams(), client.updates], [[], []]);
  client.close();
  await hears();
  assert.deepEqual(log, []);
});

test('a stream that first reports, and then asks, is a client from then on', async t => {
  const { cache, hears, log, open, service } = await startReportServer(t);
  cache.set('service', snapshotOf([resource('a', '1', POLICY)]));
  const client = open();
  client.send({ ...NODE, ...reportRequest(saying('one')) });
  await hears('one');
  client.send({ type_url: POLICY, resource_names_subscribe: ['*'] });
  client.ack(await client.next());
  await until(() => (service.streams()[0]?.standing === 'settled' ? true : undefined));
  client.cancel();
  await hears();
  assert.deepEqual(log, ['+n', '-n']);
});

test('who has begun as one group reports for no other', async t => {
  const { open, said } = await startReportServer(t);
  const envoy = open();
  envoy.send({ node: { id: 'n', cluster: 'edge' }, type_url: CLUSTER });
  envoy.send({ ...NODE, ...reportRequest(saying('one')) });
  assert.equal((await envoy.ended()).code, status.PERMISSION_DENIED);
  assert.deepEqual(said(), []);
});

test('an Envoy that reports is rejected, and nobody hears it', async t => {
  const { cache, open, said } = await startReportServer(t);
  cache.set('edge', snapshotOf([resource('a', '1')]));
  const [envoy, other] = [open(), open()];
  other.begin({ type_url: CLUSTER });
  assert.equal((await other.next()).type_url, CLUSTER);
  envoy.begin(reportRequest(saying('one')));
  assert.equal((await envoy.ended()).code, status.PERMISSION_DENIED);
  assert.deepEqual([said(), other.status], [[], undefined]);
});

test('a report that is too large, that is none, or that is two ends its stream alone', async t => {
  const { hears, open } = await startReportServer(t);
  const other = open();
  other.send({ ...NODE, ...reportRequest(saying('other')) });
  const two = { type_url: REPORT, error_detail: { details: [saying('1'), saying('2')] } };
  for (const [request, code] of [
    [reportRequest(saying('x'.repeat(MAX_REPORT_BYTES + 1))), status.RESOURCE_EXHAUSTED],
    [reportRequest(saying('bad')), status.INVALID_ARGUMENT],
    [two, status.INVALID_ARGUMENT],
  ] as const) {
    const client = open();
    client.send({ ...NODE, ...reportRequest(saying('first')) });
    await hears('first', 'other');
    client.send(request);
    assert.equal((await client.ended()).code, code);
    await hears('other');
  }
});

test('a server that takes no reports, or knows none, serves who reports as others', async t => {
  const { cache, open, service } = await startReportServer(t, 0, false);
  cache.set('service', snapshotOf([resource('a', '1', POLICY)]));
  for (const type of [{}, { type_url: 'type.googleapis.com/unknown' }]) {
    const client = open();
    client.send({ ...NODE, ...reportRequest(saying('one')), ...type });
    client.send({ type_url: POLICY, resource_names_subscribe: ['*'] });
    client.ack(await client.next());
    await until(() =>
      service.streams().every(({ standing }) => standing === 'settled') ? true : undefined,
    );
    assert.deepEqual([client.received, client.status], [[], undefined]);
  }
});
