import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { credentials, status } from '@grpc/grpc-js';
import { until } from '#envoy/e2e/until.ts';
import { after } from '#process/after.ts';
import type { Any } from '#protos/encode.ts';
import { serve } from '#protos/serve.ts';
import { CLUSTER, REPORT } from '#protos/type-url.ts';
import { connect } from './client.ts';
import { DiscoveryService } from './discovery-service.ts';
import { MAX_REPORT_BYTES, reportRequest } from './report.ts';
import { snapshotOf } from './snapshot.ts';
import { SnapshotCache } from './snapshot-cache.ts';
import { DiscoveryChannel } from './testing/discovery-client.ts';
import { resource } from './testing/resources.ts';

const POLICY = 'type.googleapis.com/test.Policy';

function saying(text: string): Any {
  return { type_url: 'type.googleapis.com/test.Report', value: Buffer.from(text) };
}

function textOf(report: Any | undefined): string {
  return report === undefined ? '' : Buffer.from(report.value).toString();
}

/** A server that takes reports of the group `service`, unless they say `bad`; `heard` is what each open stream has said last. */
async function startServer(t: TestContext, port = 0, takes = true) {
  const cache = new SnapshotCache();
  const heard = new Map<number, string>();
  const service = new DiscoveryService({
    cache,
    observer: { disconnected: ({ id }) => void heard.delete(id) },
    ...(takes && {
      reports: {
        groups: new Set(['service']),
        take({ id }, report) {
          if (textOf(report) === 'bad') return 'it says bad';
          heard.set(id, textOf(report));
          return undefined;
        },
      },
    }),
    now: Date.now,
    after,
  });
  const served = await serve({ host: '127.0.0.1', port, services: service.implementations() });
  const stop = async () => {
    service.close();
    await served.stop(100);
  };
  t.after(stop);
  const open = (method = 'DeltaAggregatedResources') => {
    const channel = new DiscoveryChannel(served.port);
    const client = channel.open(method);
    t.after(() => {
      client.cancel();
      channel.close();
    });
    return client;
  };
  const said = () => [...heard.values()].sort();
  const hears = (...texts: readonly string[]) =>
    until(() => (said().join() === texts.join() ? true : undefined), 30_000, `reports ${texts}`);
  return { cache, service, port: served.port, stop, open, said, hears };
}

function startClient(t: TestContext, port: number) {
  const updates: string[] = [];
  const connection = connect({
    address: `127.0.0.1:${port}`,
    credentials: credentials.createInsecure(),
    node: { id: 'service-1', cluster: 'service' },
    typeUrls: [POLICY],
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
  const server = await startServer(t);
  const client = startClient(t, server.port);
  client.report(saying('one'));
  await server.hears('one');
  client.report(saying('two'));
  await server.hears('two');
  client.report(undefined);
  await server.hears('');
});

test('each stream has its own, which goes with it', async t => {
  const server = await startServer(t);
  const [first, second] = [startClient(t, server.port), startClient(t, server.port)];
  first.report(saying('first'));
  second.report(saying('second'));
  await server.hears('first', 'second');
  first.close();
  await server.hears('second');
});

test('a report that stands is told again after an outage, one that was taken back is not', async t => {
  const first = await startServer(t);
  const [standing, over] = [startClient(t, first.port), startClient(t, first.port)];
  standing.report(saying('one'));
  over.report(saying('over'));
  await first.hears('one', 'over');
  await first.stop();
  await first.hears();
  over.report(undefined);
  const again = await startServer(t, first.port);
  await again.hears('one');
  await until(() => (again.service.streams().length === 2 ? true : undefined));
  assert.deepEqual(again.said(), ['one']);
});

test('what is reported changes nothing of what is served', async t => {
  const { cache, hears, port, service } = await startServer(t);
  const client = startClient(t, port);
  client.report(saying('one'));
  cache.set('service', snapshotOf([resource('a', '1', POLICY)]));
  await until(() => client.updates[0]);
  await hears('one');
  await until(() => (service.streams()[0]?.standing === 'settled' ? true : undefined));
  assert.deepEqual(Object.keys(service.streams()[0]?.types ?? {}), [POLICY]);
});

test('an Envoy that reports is refused, and nobody hears it', async t => {
  const { cache, open, said } = await startServer(t);
  cache.set('edge', snapshotOf([resource('a', '1')]));
  const [envoy, other] = [open(), open()];
  other.begin({ type_url: CLUSTER });
  assert.equal((await other.next()).type_url, CLUSTER);
  envoy.begin(reportRequest(saying('one')));
  assert.equal((await envoy.ended()).code, status.PERMISSION_DENIED);
  assert.deepEqual([said(), other.status], [[], undefined]);
});

test('a report that is too large, that is none, or that is two ends its stream alone', async t => {
  const { hears, open } = await startServer(t);
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
  const { cache, open, service } = await startServer(t, 0, false);
  cache.set('service', snapshotOf([resource('a', '1', POLICY)]));
  for (const type of [{}, { type_url: 'type.googleapis.com/unknown' }]) {
    const client = open();
    client.send({ ...NODE, ...reportRequest(saying('one')), ...type });
    client.send({ type_url: POLICY, resource_names_subscribe: ['*'] });
    client.ack(await client.next());
    await until(() => (service.streams().every(({ standing }) => standing === 'settled') ? true : undefined));
    assert.deepEqual([client.received, client.status], [[], undefined]);
  }
});
