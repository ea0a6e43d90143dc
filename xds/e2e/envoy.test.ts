import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { promised } from '#envoy/e2e/promised.ts';
import { until } from '#envoy/e2e/until.ts';
import type { Nack } from '../discovery-observer.ts';
import type { Snapshot } from '../snapshot.ts';
import { startDiscoveryServer } from '../testing/discovery-server.ts';
import { startLoad } from '../testing/start-load.ts';
import { type Asking, badCluster, bootstrap, cluster, configuration } from './configuration.ts';
import { ask, startHolder, startUpstream } from './traffic.ts';

const DELTA: Asking = { api: 'DELTA_GRPC', aggregated: true };
const ASKINGS: readonly (readonly [what: string, asking: Asking])[] = [
  ['delta over one stream', DELTA],
  ['state of the world over one stream', { api: 'GRPC', aggregated: true }],
  ['delta over a stream for each type', { api: 'DELTA_GRPC', aggregated: false }],
  ['state of the world over a stream for each type', { api: 'GRPC', aggregated: false }],
];

/**
 * An Envoy that routes to upstream `a`, and a way to wait until every stream of it has the newest
 * snapshot.
 */
async function setUp(t: TestContext, asking: Asking, keptMs?: number) {
  const ports = { a: await startUpstream(t, 'a'), b: await startUpstream(t, 'b') };
  const nacks: Nack[] = [];
  const server = await startDiscoveryServer(
    t,
    { nacked: (_stream, nack) => nacks.push(nack) },
    0,
    undefined,
    keptMs,
  );
  server.cache.set('edge', configuration(asking, 'a', { a: ports.a }));
  const envoy = await startEnvoy(bootstrap(asking, server.port));
  t.after(() => envoy.stop());
  const url = `http://127.0.0.1:${await envoy.listenerPort('edge')}/`;
  const answers = (body: string) =>
    until(
      async () => ((await ask(url)).body === body ? true : undefined),
      30_000,
      `an answer of ${body}`,
    );
  const settle = async (snapshot: Snapshot) => {
    server.cache.set('edge', snapshot);
    await until(
      () => server.service.streams().every(({ standing }) => standing === 'settled') || undefined,
    );
  };
  await answers('a');
  return { ...server, envoy, ports, nacks, url, answers, settle };
}

for (const [what, asking] of ASKINGS) {
  test(`Envoy gets its configuration by ${what}, and each change of it`, async t => {
    const { ports, answers, settle, nacks, envoy } = await setUp(t, asking, 200);
    await settle(configuration(asking, 'b', { b: ports.b }));
    await answers('b');
    await until(async () => ((await envoy.get('/clusters')).includes('\na::') ? undefined : true));
    assert.deepEqual(nacks, []);
  });
}

// Without an aggregated stream Envoy ACKs clusters before they are warm, so that there nothing can
// be promised.
for (const [what, asking] of ASKINGS.filter(([, { aggregated }]) => aggregated)) {
  test(`20 cluster swaps under load cost no request, by ${what}`, async t => {
    const { ports, settle, answers, url } = await setUp(t, asking);
    const load = startLoad(t, url);
    for (let i = 0; i < 20; i += 1) {
      const name = `swap-${i}`;
      const before = load.answered();
      await settle(configuration(asking, name, { [name]: i % 2 === 0 ? ports.b : ports.a }));
      await until(() => (load.answered() > before + 20 ? true : undefined));
    }
    await answers('a');
    const answered = load.answered();
    assert.deepEqual(await load.stop(), []);
    t.diagnostic(`${answered} requests`);
  });
}

test('requests that wait in a filter go where their route led, after changes and a restart of the server', async t => {
  const holder = await startHolder(t);
  const asking = { ...DELTA, holder: holder.port };
  const port = await startUpstream(t, 'a');
  const server = await startDiscoveryServer(t);
  const serve = ({ cache }: Pick<typeof server, 'cache'>, name: string) =>
    cache.set('edge', configuration(asking, name, { [name]: port }));
  const settled = ({ service }: Pick<typeof server, 'service'>) =>
    until(() => service.streams().some(({ standing }) => standing === 'settled') || undefined);
  serve(server, 'first');
  const envoy = await startEnvoy(bootstrap(asking, server.port));
  t.after(() => envoy.stop());
  const url = `http://127.0.0.1:${await envoy.listenerPort('edge')}/`;
  const answers = Array.from({ length: 6 }, () => ask(url));
  await until(() => holder.held() === 6 || undefined);
  for (const name of ['second', 'third']) {
    serve(server, name);
    await settled(server);
  }
  await server.stop();
  const again = await startDiscoveryServer(t, {}, server.port);
  serve(again, 'fourth');
  await settled(again);
  holder.release();
  assert.deepEqual(
    await Promise.all(answers),
    answers.map(() => ({ status: 200, body: 'a' })),
  );
});

test('changes faster than Envoy ACKs cost no request', async t => {
  const { cache, ports, settle, url } = await setUp(t, DELTA);
  const load = startLoad(t, url);
  for (let i = 0; i < 50; i += 1) {
    const name = `swap-${i}`;
    const before = load.answered();
    cache.set('edge', configuration(DELTA, name, { [name]: ports.b }));
    await until(() => (load.answered() > before + 2 ? true : undefined));
  }
  await settle(configuration(DELTA, 'b', { b: ports.b }));
  assert.deepEqual(await load.stop(), []);
});

test('a cluster whose endpoints nobody serves does not hold the others', async t => {
  const { ports, answers, settle } = await setUp(t, DELTA);
  const start = performance.now();
  await settle(configuration(DELTA, 'b', { b: ports.b }, [cluster(DELTA, 'nobody')]));
  await answers('b');
  assert.ok(performance.now() - start < 10_000, 'its initial fetch timeout is 15 s');
});

test('a rejected cluster leaves what was in force, and is told with Envoy’s own words', async t => {
  const { cache, service, ports, nacks, answers, settle, url } = await setUp(t, DELTA);
  const bad = configuration(DELTA, 'b', { b: ports.b }, [badCluster('bad')]);
  cache.set('edge', bad);
  const nack = await until(() => nacks[0]);
  assert.equal(nack.target, bad);
  assert.ok(nack.names.includes('bad'));
  assert.match(nack.message, /bad/);
  assert.equal(service.streams()[0]?.standing, 'rejected');
  assert.equal((await ask(url)).body, 'a');
  await settle(configuration(DELTA, 'b', { b: ports.b }));
  await answers('b');
  assert.equal(nacks.length, 1);
});

test('a configuration that changed during an outage is in effect within 1 s of its end, at no request’s cost', async t => {
  const { port, stop, ports, url } = await setUp(t, DELTA);
  const load = startLoad(t, url);
  await stop();
  const answered = load.answered();
  await until(() => (load.answered() > answered + 200 ? true : undefined));
  const again = await startDiscoveryServer(t, {}, port);
  const start = performance.now();
  again.cache.set('edge', configuration(DELTA, 'b', { b: ports.b }));
  await until(async () => ((await ask(url)).body === 'b' ? true : undefined));
  const took = performance.now() - start;
  await until(() => (again.service.streams()[0]?.standing === 'settled' ? true : undefined));
  assert.deepEqual(await load.stop(), []);
  t.diagnostic(`${Math.round(took)} ms`);
  assert.ok(took < promised(1_000));
});
