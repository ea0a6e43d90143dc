import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { until } from '#envoy/e2e/until.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import { issueToken, makeServiceAccount } from '#kubernetes/testing/service-account.ts';
import { createObject, patchObject } from '#kubernetes/write.ts';
import { READ_SERVICES, READ_SLICES } from '../testing/endpoint-slices.ts';
import { startSds } from '../testing/sds-process.ts';
import { edsBootstrap, edsCluster } from './eds-cluster.ts';

const NAMES = ['shop', 'shop:80', 'shop:81', 'shop:7777', 'only:7777'];

const WEB = '10.0.0.1:8080';
const ADMIN = '10.0.0.1:9000';

describe('ports of Kubernetes services', { skip: whyNoKubeApiserver() ?? false }, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
    const ports = { http: 8080, admin: 9000 };
    await createService(api, 'shop', [
      { name: 'http', port: 80 },
      { name: 'admin', port: 81 },
    ]);
    await createSlice(api, 'shop', ports);
    await createService(api, 'only', [{ port: 80 }]);
    await createSlice(api, 'only', { '': 8080 });
  });
  after(() => api?.remove());

  test('are the numbers that clients use, once Services may be read; until then others lead to the main port', async t => {
    await makeServiceAccount(api.admin, { namespace: 'default', name: 'sds' }, READ_SLICES);
    const token = await issueToken(api.admin, 'default', 'sds');
    const KUBECONFIG = await api.writeKubeconfig('sds', token);
    const sds = await startSds(t, 'services: {}', {
      SERVES: 'instances',
      INSTANCES_KUBERNETES: 'default',
      KUBECONFIG,
    });
    const clusters = NAMES.map(name => edsCluster(name, 'DELTA_GRPC'));
    const envoy = await startEnvoy(edsBootstrap('DELTA_GRPC', sds.port, clusters));
    t.after(envoy.stop);
    await sees(envoy, [WEB, WEB, WEB, WEB, WEB]);
    await until(() => /Services cannot be followed/.exec(sds.log()) ?? undefined);
    const statusOf = async () => JSON.parse(await (await fetch(`${sds.url}/status`)).text());
    assert.match(
      (await statusOf()).sources.kubernetes.default.service_ports,
      /refuses to list services .*403/,
    );

    const roles = {
      group: 'rbac.authorization.k8s.io',
      version: 'v1',
      plural: 'roles',
      namespace: 'default',
    };
    const rules = [...READ_SLICES, ...READ_SERVICES];
    await patchObject({ cluster: api.admin, resource: roles }, 'sds', { rules });
    await sees(envoy, [WEB, WEB, ADMIN, '', WEB]);
    const { missed_ports, services } = await until(async () => {
      const status = await statusOf();
      return status.sources.kubernetes.default.service_ports === undefined ? status : undefined;
    });
    assert.deepEqual(missed_ports, ['shop:7777']);
    assert.equal(services['shop:*'], undefined);
    assert.equal(sds.log().match(/Services cannot be followed/g)?.length, 1);
    assert.match(sds.log(), /"asked":"shop:7777","ports":\[[^\]]*"80"[^\]]*\],.*no such port/);

    const target = {
      cluster: api.admin,
      resource: { ...CORE, plural: 'services', namespace: 'default' },
    };
    const ports = [
      { name: 'http', port: 7777 },
      { name: 'admin', port: 81 },
    ];
    await patchObject(target, 'shop', { spec: { ports } });
    await sees(envoy, [WEB, '', ADMIN, WEB, WEB]);
  });
});

const CORE = { group: '', version: 'v1' };

async function createService(
  api: KubeApiserver,
  name: string,
  ports: readonly object[],
): Promise<void> {
  const resource = { ...CORE, plural: 'services', namespace: 'default' };
  const spec = { selector: { app: name }, ports };
  const written = await createObject(
    { cluster: api.admin, resource },
    { metadata: { name }, spec },
  );
  assert.equal(written.kind, 'written', JSON.stringify(written));
}

async function createSlice(
  api: KubeApiserver,
  name: string,
  ports: Readonly<Record<string, number>>,
): Promise<void> {
  const resource = {
    group: 'discovery.k8s.io',
    version: 'v1',
    plural: 'endpointslices',
    namespace: 'default',
  };
  const written = await createObject(
    { cluster: api.admin, resource },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: Object.entries(ports).map(([each, port]) => ({ name: each, port })),
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
    },
  );
  assert.equal(written.kind, 'written', JSON.stringify(written));
}

/** Waits until Envoy has these members in the clusters of NAMES. '' means none. */
async function sees(envoy: EnvoyProcess, wanted: readonly string[]): Promise<void> {
  const membersOf = (clusters: string, name: string) =>
    [...clusters.matchAll(/^(.+)::([\d.]+:\d+)::cx_active/gm)].find(
      ([, each]) => each === name,
    )?.[2] ?? '';
  const members = async () => {
    const clusters = await envoy.get('/clusters');
    return NAMES.map(name => membersOf(clusters, name)).join();
  };
  await until(
    async () => ((await members()) === wanted.join() ? true : undefined),
    60_000,
    wanted.join(),
  );
}
