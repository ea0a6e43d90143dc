import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type net from 'node:net';
import { networkInterfaces } from 'node:os';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { promised } from '#envoy/e2e/promised.ts';
import { until } from '#envoy/e2e/until.ts';
import { after } from '#process/after.ts';
import { startUpstream } from '#xds/e2e/traffic.ts';
import { startLoad } from '#xds/testing/start-load.ts';
import type { Instances } from '../instances/instance.ts';
import type { InstanceSource } from '../instances/instance-source.ts';
import { createMetrics } from '../metrics.ts';
import { startServer } from '../server.ts';
import { type SdsProcess, startSds } from '../testing/sds-process.ts';
import { type Api, edsBootstrap } from './eds-cluster.ts';

const APIS: readonly Api[] = ['DELTA_GRPC', 'GRPC', 'REST'];

/** An HTTP server that answers its own name. */
async function startProxy(t: TestContext, api: Api, sds: SdsProcess) {
  const envoy = await startEnvoy(edsBootstrap(api, sds.port));
  t.after(() => envoy.stop());
  await until(async () => ((await envoy.get('/ready')).startsWith('LIVE') ? true : undefined));
  const url = `http://127.0.0.1:${await envoy.listenerPort('in')}/`;
  return { envoy, ask: async () => (await fetch(url)).text(), url };
}

function instancesFile(...ports: readonly number[]): string {
  return JSON.stringify({
    services: { 'user-service': ports.map(port => ({ address: '127.0.0.1', port })) },
  });
}

/** The ports of the endpoints that Envoy has in its cluster. */
async function portsAt(envoy: EnvoyProcess): Promise<readonly number[]> {
  const clusters = await envoy.get('/clusters');
  const lines = clusters.matchAll(/^user-service::127\.0\.0\.1:(\d+)::cx_active/gm);
  return [...lines].map(([, port]) => Number(port)).sort((a, b) => a - b);
}

function seesPorts(envoy: EnvoyProcess, ...ports: readonly number[]): Promise<true> {
  const wanted = ports.toSorted((a, b) => a - b).join();
  return until(
    async () => ((await portsAt(envoy)).join() === wanted ? true : undefined),
    30_000,
    wanted,
  );
}

async function stat(envoy: EnvoyProcess, name: string): Promise<number> {
  return Number(/: (\d+)/.exec(await envoy.get(`/stats?filter=^${name}$`))?.[1]);
}

for (const api of APIS) {
  test(`Envoy by ${api} gets the instances, and each that comes and goes`, async t => {
    const one = await startUpstream(t, 'one');
    const two = await startUpstream(t, 'two');
    const sds = await startSds(t, instancesFile(one));
    const { envoy, ask } = await startProxy(t, api, sds);
    await seesPorts(envoy, one);
    assert.equal(await ask(), 'one');
    await sds.write(instancesFile(one, two));
    await seesPorts(envoy, one, two);
    assert.deepEqual(new Set([await ask(), await ask()]), new Set(['one', 'two']));
    await sds.write(instancesFile(two));
    await seesPorts(envoy, two);
    assert.deepEqual(new Set([await ask(), await ask()]), new Set(['two']));
    await sds.write('services: {}');
    await seesPorts(envoy);
  });

  test(`Envoy by ${api} does not wait for a service that nobody serves`, async t => {
    const one = await startUpstream(t, 'one');
    const sds = await startSds(t, instancesFile(one));
    const start = performance.now();
    const { envoy, ask } = await startProxy(t, api, sds);
    assert.equal(await ask(), 'one');
    assert.ok(performance.now() - start < 12_000, 'its initial fetch timeout is 15 s');
    assert.equal(await stat(envoy, 'cluster.nobody.init_fetch_timeout'), 0);
    assert.equal(await stat(envoy, 'cluster.nobody.update_success'), 1);
  });

  test(`an instance that leaves Envoy by ${api} under load costs no request`, async t => {
    const ports = [
      await startUpstream(t, 'one'),
      await startUpstream(t, 'two'),
      await startUpstream(t, 'three'),
    ];
    const [one = 0, ...others] = ports;
    const sds = await startSds(t, instancesFile(...ports));
    const { envoy, url } = await startProxy(t, api, sds);
    await seesPorts(envoy, ...ports);
    const load = startLoad(t, url);
    await until(() => (load.answered() > 50 ? true : undefined));
    await sds.write(instancesFile(...others));
    await seesPorts(envoy, ...others);
    await sds.write(instancesFile(one, ...others));
    await seesPorts(envoy, ...ports);
    const before = load.answered();
    await until(() => (load.answered() > before + 50 ? true : undefined));
    assert.deepEqual(await load.stop(), []);
  });
}

const addresses = Object.values(networkInterfaces()).flatMap(each => each ?? []);
const skip = addresses.some(({ address }) => address === '::1') ? false : 'there is no IPv6';

test('instances of both families are reached, however they are spelt', { skip }, async t => {
  const four = await startUpstream(t, 'four');
  const six = http.createServer((_request, response) => void response.end('six'));
  await once(six.listen(0, '::1'), 'listening');
  t.after(() => void six.close().closeAllConnections());
  const { port } = six.address() as net.AddressInfo;
  const spellings = ['::1', '0:0:0:0:0:0:0:1'].map(address => ({ address, port }));
  const items = [{ address: '127.0.0.1', port: four }, ...spellings];
  const sds = await startSds(t, JSON.stringify({ services: { 'user-service': items } }));
  const { envoy, ask } = await startProxy(t, 'DELTA_GRPC', sds);
  await until(async () =>
    (await stat(envoy, 'cluster.user-service.membership_total')) === 2 ? true : undefined,
  );
  assert.deepEqual(new Set([await ask(), await ask()]), new Set(['four', 'six']));
});

test('an instance that is removed from the file has left a streaming Envoy within 100 ms', async t => {
  const sds = await startSds(t, instancesFile(1111, 2222));
  const { envoy } = await startProxy(t, 'DELTA_GRPC', sds);
  await seesPorts(envoy, 1111, 2222);
  const delays: number[] = [];
  for (const ports of [[1111], [1111, 2222], [2222], [1111, 2222], [1111]]) {
    const start = performance.now();
    await sds.write(instancesFile(...ports));
    await seesPorts(envoy, ...ports);
    delays.push(performance.now() - start);
  }
  t.diagnostic(`${delays.map(Math.round).join(', ')} ms`);
  assert.ok(Math.min(...delays) < promised(100));
});

test('REST answers that bring nothing new are 304, and Envoy changes nothing', async t => {
  const sds = await startSds(t, instancesFile(1111));
  const { envoy } = await startProxy(t, 'REST', sds);
  await seesPorts(envoy, 1111);
  const attempts = await stat(envoy, 'cluster.user-service.update_attempt');
  await until(async () =>
    (await stat(envoy, 'cluster.user-service.update_attempt')) > attempts + 5 ? true : undefined,
  );
  assert.equal(await stat(envoy, 'cluster.user-service.update_success'), 1);
  assert.equal(await stat(envoy, 'cluster.user-service.update_failure'), 0);
  assert.match(
    await (await fetch(`${sds.url}/metrics`)).text(),
    /sds_http_requests_total\{status="304"\} \d/,
  );
});

test('an Envoy is told nothing until the instances are known', async t => {
  let say = (_instances: Instances) => {};
  const metrics = createMetrics();
  const source: InstanceSource = {
    watch(onChange) {
      say = onChange;
      return () => {};
    },
  };
  const { port, stop } = await startServer({
    ...{ host: '127.0.0.1', port: 0, source, metrics, now: Date.now, after },
    log: pino({ level: 'silent' }),
  });
  t.after(() => stop(0));
  const envoy = await startEnvoy(edsBootstrap('DELTA_GRPC', port));
  t.after(() => envoy.stop());
  await until(async () => /sds_clients [^0]/.test(await metrics.registry.metrics()) || undefined);
  assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 503);
  assert.equal(await stat(envoy, 'cluster.user-service.update_success'), 0);
  say(new Map([['user-service', [{ address: '127.0.0.1', port: 1111 }]]]));
  await seesPorts(envoy, 1111);
  assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
});

type SdsStatus = { readonly clients: readonly { readonly standing: string }[] };

async function status(sds: SdsProcess): Promise<SdsStatus> {
  return (await (await fetch(`${sds.url}/status`)).json()) as SdsStatus;
}

const SPOILT: readonly [how: string, spoil: (file: string) => Promise<void>][] = [
  ['without its file', rm],
  ['to a broken file', file => writeFile(file, 'services: [')],
];

for (const api of APIS)
  for (const [how, spoil] of SPOILT)
    test(`a discovery service that is killed and comes back ${how} takes no instance from Envoy by ${api}`, async t => {
      const one = await startUpstream(t, 'one');
      const two = await startUpstream(t, 'two');
      const sds = await startSds(t, instancesFile(one));
      const { envoy, url } = await startProxy(t, api, sds);
      await seesPorts(envoy, one);
      const load = startLoad(t, url);
      sds.child.kill('SIGKILL');
      await once(sds.child, 'exit');
      await spoil(sds.place.INSTANCES_FILE);
      const next = await startSds(t, undefined, sds.place);
      await until(async () => (await hasAnswered(next, api)) || undefined);
      assert.deepEqual(await portsAt(envoy), [one]);
      await sds.write(instancesFile(one, two));
      await seesPorts(envoy, one, two);
      assert.deepEqual(await load.stop(), []);
    });

/** Whether Envoy has taken what it was told, and was told all. */
async function hasAnswered(sds: SdsProcess, api: Api): Promise<boolean> {
  if (api === 'REST')
    return /requests_total\{status="(200|304)"\}/.test(
      await (await fetch(`${sds.url}/metrics`)).text(),
    );
  const { clients } = await status(sds);
  return clients.length === 2 && clients.every(({ standing }) => standing === 'settled');
}
