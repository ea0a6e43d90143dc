import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { promised } from '#envoy/e2e/promised.ts';
import { whyNoTestHosts } from '#envoy/e2e/test-hosts.ts';
import { until } from '#envoy/e2e/until.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import { issueToken, makeServiceAccount } from '#kubernetes/testing/service-account.ts';
import { startLoad } from '#xds/testing/start-load.ts';
import { READ_SLICES, sliceWriter } from '../testing/endpoint-slices.ts';
import {
  type InstanceHost,
  makeInstanceHost,
  type RunningInstance,
} from '../testing/instance-host.ts';
import { startSds } from '../testing/sds-process.ts';
import { edsBootstrap } from './eds-cluster.ts';

const skip = whyNoKubeApiserver() ?? whyNoTestHosts() ?? false;

/** How long the API is away at least. For a manual run set 60000. */
const AWAY_MS = Number(process.env.AWAY_MS ?? 0);

describe('instances that the orchestrator knows', { skip }, () => {
  let api: KubeApiserver;
  let host: InstanceHost;
  let instances: readonly RunningInstance[];
  let kubeconfig: string;

  before(async () => {
    host = makeInstanceHost();
    api = await startKubeApiserver();
    instances = await Promise.all(Array.from({ length: 4 }, host.start));
    await makeServiceAccount(api.admin, { namespace: 'default', name: 'sds' }, READ_SLICES);
    kubeconfig = await api.writeKubeconfig('sds', await issueToken(api.admin, 'default', 'sds'));
  });
  after(async () => {
    await api?.remove();
    await host?.remove();
  });

  /**
   * Discovery with the rights of its service account alone, and an Envoy that has these instances
   * of `user-service`.
   */
  async function setUp(t: TestContext, first: readonly RunningInstance[]) {
    const slices = sliceWriter(api.admin, 'user-service', host.port);
    for (const name of ['a', 'b']) await slices.remove(name);
    await slices.write('a', first);
    const env = { SERVES: 'instances', INSTANCES_KUBERNETES: 'default', KUBECONFIG: kubeconfig };
    const sds = await startSds(t, 'services: {}', env);
    const envoy = await startEnvoy(edsBootstrap('DELTA_GRPC', sds.port));
    t.after(() => envoy.stop());
    await sees(envoy, first);
    const url = `http://127.0.0.1:${await envoy.listenerPort('in')}/`;
    return { slices, sds, envoy, url };
  }

  test('instances that come, end, move between slices and go under load cost no request', async t => {
    const [one, two, three, four] = fourOf(instances);
    const { slices, envoy, url } = await setUp(t, [one, two]);
    const load = startLoad(t, url);
    await slices.write('a', [one, two, three, four]);
    await sees(envoy, [one, two, three, four]);
    const slow = Promise.all(
      Array.from({ length: 8 }, async () => (await fetch(`${url}slow`)).status),
    );
    await asked(load);
    const start = performance.now();
    await slices.write('a', [{ ...one, state: 'ending' }, two, three, four]);
    await sees(envoy, [two, three, four]);
    t.diagnostic(`an instance that ends left Envoy in ${Math.round(performance.now() - start)} ms`);
    assert.deepEqual(new Set(await slow), new Set([200]), 'what it was asked before it finishes');
    await slices.write('b', [three, four]);
    await slices.write('a', [two]);
    await asked(load);
    await sees(envoy, [two, three, four]);
    await slices.remove('a');
    await sees(envoy, [three, four]);
    await asked(load);
    assert.deepEqual(await load.stop(), []);
    await slices.remove('b');
    await sees(envoy, []);
  });

  test('instances that all end are still asked', async t => {
    const [one, two] = fourOf(instances);
    const { slices, sds, url } = await setUp(t, [one, two]);
    const load = startLoad(t, url);
    await slices.write('a', [
      { ...one, state: 'ending' },
      { ...two, state: 'ending' },
    ]);
    await until(async () =>
      (await (await fetch(`${sds.url}/status`)).text()).includes('DRAINING') ? true : undefined,
    );
    await asked(load);
    assert.deepEqual(await load.stop(), []);
  });

  test('the API away and back: nothing is lost under load, and what changed meanwhile arrives', async t => {
    const [one, two, three] = fourOf(instances);
    const { slices, sds, envoy, url } = await setUp(t, [one, two]);
    const load = startLoad(t, url);
    await api.stop();
    await until(() => /cannot be followed/.exec(sds.log()) ?? undefined);
    await delay(AWAY_MS);
    await asked(load);
    assert.deepEqual(await addressesAt(envoy), addressesOf([one, two]));
    assert.equal((await fetch(`${sds.url}/readyz`)).status, 200);
    await api.start();
    await slices.write('a', [two, three]);
    await sees(envoy, [two, three]);
    assert.deepEqual(await load.stop(), []);
    // What a list has brought comes before the next watch.
    await until(async () => {
      const metrics = await (await fetch(`${sds.url}/metrics`)).text();
      return /^sds_kubernetes_watching\{namespace="default"\} 1$/m.test(metrics) || undefined;
    });
  });

  test('an instance that is killed has left Envoy within a second', async t => {
    const { slices, envoy } = await setUp(t, instances);
    const delays: number[] = [];
    for (const killed of instances.slice(0, 2)) {
      const rest = instances.filter(each => each.address > killed.address);
      await killed.kill();
      const start = performance.now();
      await slices.write('a', rest);
      await sees(envoy, rest);
      delays.push(performance.now() - start);
    }
    t.diagnostic(`from before the write to Envoy: ${delays.map(Math.round).join(', ')} ms`);
    assert.ok(Math.max(...delays) < promised(1_000));
  });
});

type Four = readonly [RunningInstance, RunningInstance, RunningInstance, RunningInstance];

function fourOf(instances: readonly RunningInstance[]): Four {
  const [a, b, c, d] = instances;
  assert.ok(a && b && c && d);
  return [a, b, c, d];
}

function addressesOf(instances: readonly { readonly address: string }[]): readonly string[] {
  return instances.map(({ address }) => address).sort();
}

/** The addresses of the endpoints that Envoy has in its cluster. */
async function addressesAt(envoy: EnvoyProcess): Promise<readonly string[]> {
  const lines = (await envoy.get('/clusters')).matchAll(/^user-service::([\d.]+):\d+::cx_active/gm);
  return [...lines].map(([, address = '']) => address).sort();
}

function sees(envoy: EnvoyProcess, instances: readonly RunningInstance[]): Promise<true> {
  const wanted = addressesOf(instances).join();
  return until(
    async () => ((await addressesAt(envoy)).join() === wanted ? true : undefined),
    30_000,
    wanted,
  );
}

/** Waits for 50 more answers. */
async function asked(load: ReturnType<typeof startLoad>): Promise<void> {
  const seen = load.answered();
  await until(() => (load.answered() > seen + 50 ? true : undefined));
}
