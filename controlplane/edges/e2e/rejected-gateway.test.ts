import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DEFAULT_CONTROLLER } from '#controlplane/gateway-api/gateway-options.ts';
import { inCluster } from '#controlplane/testing/in-cluster.ts';
import { until } from '#envoy/e2e/until.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import { grantCluster } from '#kubernetes/testing/service-account.ts';
import { createObject, getObject, patchObject } from '#kubernetes/write.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import {
  applyGatewayApi,
  gatewayApiPlural,
  whyNoGatewayApi,
} from '#resources/kubernetes/testing/gateway-api.ts';
import { applyDefinitions } from '#resources/kubernetes/testing/objects.ts';
import { collectionOf } from '../edge-collections.ts';

const NAMESPACE = 'rejected';
const SKIP = whyNoKubeApiserver() ?? whyNoGatewayApi() ?? false;
const EVERYTHING = {
  metadata: { name: 'everything' },
  rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
};
const LISTENER = { name: 'http', port: 18_080, protocol: 'HTTP' };

/** The API server takes any operator. */
const MISSPELT = {
  ...LISTENER,
  allowedRoutes: {
    namespaces: {
      from: 'Selector',
      selector: { matchExpressions: [{ key: 'team', operator: 'in', values: ['shop'] }] },
    },
  },
};

describe('the edge of a Gateway with an error', { skip: SKIP }, () => {
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

  const gateway = (name: string) =>
    create('Gateway', name, { gatewayClassName: 'ours', listeners: [LISTENER] }, NAMESPACE);

  const identityOf = async (name: string) => {
    const target = { cluster: api.admin, resource: collectionOf('Deployment', NAMESPACE) };
    return (await getObject(target, `${name}-ours`))?.metadata.uid;
  };
  const made = (name: string) => until(() => identityOf(name), 60_000, `the edge of ${name}`);

  test('stays when a control plane takes over that never knew it without', async t => {
    const cluster = await inCluster(api, NAMESPACE);
    t.after(cluster.remove);
    const account = { name: `controlplane-${NAMESPACE}`, namespace: NAMESPACE };
    await grantCluster(api.admin, account, EVERYTHING);
    await create('GatewayClass', 'ours', { controllerName: DEFAULT_CONTROLLER });
    await gateway('g');
    const first = await cluster.start({ RESOURCES_KUBERNETES: '*' });
    t.after(first.stop);
    const identity = await made('g');
    await first.stop();
    const broken = { spec: { listeners: [MISSPELT] } };
    const patched = await patchObject(targetOf('Gateway', NAMESPACE), 'g', broken);
    assert.equal(patched.kind, 'written');
    const second = await cluster.start({ RESOURCES_KUBERNETES: '*' });
    t.after(second.stop);
    await gateway('later');
    await made('later');
    // What was compared together with the one before has been written by then.
    await gateway('last');
    await made('last');
    assert.equal(await identityOf('g'), identity);
  });
});
