import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DEFAULT_CONTROLLER } from '#controlplane/gateway-api/gateway-options.ts';
import { inCluster, leads } from '#controlplane/testing/in-cluster.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import { startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { until } from '#envoy/e2e/until.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import { grantCluster } from '#kubernetes/testing/service-account.ts';
import { createObject, getObject } from '#kubernetes/write.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import {
  applyGatewayApi,
  gatewayApiPlural,
  whyNoGatewayApi,
} from '#resources/kubernetes/testing/gateway-api.ts';
import { applyDefinitions } from '#resources/kubernetes/testing/objects.ts';

const NAMESPACE = 'default';
const SKIP = whyNoKubeApiserver() ?? whyNoGatewayApi() ?? false;

/** All that a control plane needs but the right to make Deployments. */
const NO_DEPLOYMENTS = {
  metadata: { name: 'no-deployments' },
  rules: [
    {
      apiGroups: ['', 'autoscaling', 'discovery.k8s.io', 'policy', GATEWAY_API_GROUP],
      resources: ['*'],
      verbs: ['*'],
    },
    {
      apiGroups: ['apps', 'gateway.internal', 'getambassador.io'],
      resources: ['*'],
      verbs: ['get', 'list', 'watch'],
    },
  ],
};

type Condition = { readonly type: string; readonly reason: string; readonly message: string };

describe('the edges of Gateways with two control planes', { skip: SKIP }, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
    await Promise.all([applyDefinitions(api.admin), applyGatewayApi(api.admin)]);
  });
  after(() => api?.remove());

  const targetOf = (kind: string, namespace?: string) => ({
    cluster: api.admin,
    resource: {
      ...{ group: GATEWAY_API_GROUP, version: 'v1', plural: gatewayApiPlural(kind) },
      namespace,
    },
  });

  async function create(kind: string, name: string, spec: object, namespace?: string) {
    const object = { apiVersion: `${GATEWAY_API_GROUP}/v1`, kind, metadata: { name }, spec };
    assert.equal((await createObject(targetOf(kind, namespace), object)).kind, 'written');
  }

  async function edgesHolder(): Promise<string | undefined> {
    const resource = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' };
    const target = { cluster: api.admin, resource: { ...resource, namespace: NAMESPACE } };
    const lease = await getObject(target, 'gateway-edges');
    return (lease?.spec as { readonly holderIdentity?: string } | undefined)?.holderIdentity;
  }

  test('are made by the one that writes statuses, so a status tells why they cannot be made', async t => {
    const cluster = await inCluster(api, NAMESPACE);
    t.after(cluster.remove);
    const account = { name: `controlplane-${NAMESPACE}`, namespace: NAMESPACE };
    await grantCluster(api.admin, account, NO_DEPLOYMENTS);
    await create('GatewayClass', 'ours', { controllerName: DEFAULT_CONTROLLER });
    const first = await cluster.start({ RESOURCES_KUBERNETES: '*' });
    t.after(first.stop);
    await until(async () => (await edgesHolder()) || undefined, 60_000, 'the first makes edges');
    const second = await cluster.start({ RESOURCES_KUBERNETES: '*' });
    t.after(second.stop);
    const addresses = { xdsAddress: second.xds, sdsAddress: '127.0.0.1:1' };
    const proxy = await startEnvoy(
      bootstrap({ ...addresses, nodeId: 'edge-1', group: 'edge', discoveryClusters: [] }),
    );
    t.after(proxy.stop);
    await until(async () => (await leads(second)) || undefined, 60_000, 'the second leads');
    const listeners = [{ name: 'http', port: 18_080, protocol: 'HTTP' }];
    await create('Gateway', 'g', { gatewayClassName: 'ours', listeners }, NAMESPACE);
    const told = await until(
      async () => {
        const object = await getObject(targetOf('Gateway', NAMESPACE), 'g');
        const { conditions = [] } = Object(object?.status) as { conditions?: readonly Condition[] };
        return conditions.find(({ reason }) => reason === 'NoResources');
      },
      60_000,
      'a status that says why',
    );
    assert.match(told.message, /Deployment default\/g-ours cannot be written: .*forbidden/);
  });
});
