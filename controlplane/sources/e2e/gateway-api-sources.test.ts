import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { issueRoot } from '#certificates/authority/root.ts';
import { DEFAULT_CONTROLLER } from '#controlplane/gateway-api/gateway-options.ts';
import { type ApiReader, readFrom } from '#controlplane/testing/api-reader.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import type { Resource } from '#kubernetes/resource.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import {
  grantCluster,
  issueToken,
  makeNamespace,
  makeServiceAccount,
  type Rule,
} from '#kubernetes/testing/service-account.ts';
import { createObject, deleteObject, patchObject } from '#kubernetes/write.ts';
import { after as callAfter } from '#process/after.ts';
import {
  applyGatewayApi,
  gatewayApiPlural,
  gatewayApiRoles,
  whyNoGatewayApi,
} from '#resources/kubernetes/testing/gateway-api.ts';
import { applyDefinitions, removeDefinition } from '#resources/kubernetes/testing/objects.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import type { Reading } from '../resource-sources.ts';

const SKIP = whyNoKubeApiserver() ?? whyNoGatewayApi() ?? false;
const GROUP = 'gateway.networking.k8s.io';

function placeOf({ apiVersion = '', kind = '', metadata }: KubernetesObject): Resource {
  const { namespace } = metadata;
  if (kind === 'ClusterTrustBundle')
    return { group: 'certificates.k8s.io', version: 'v1beta1', plural: 'clustertrustbundles' };
  if (apiVersion === 'v1')
    return { group: '', version: 'v1', plural: `${kind.toLowerCase()}s`, namespace };
  return { group: GROUP, version: 'v1', plural: gatewayApiPlural(kind), namespace };
}

const gatewayClass: KubernetesObject = {
  apiVersion: `${GROUP}/v1`,
  kind: 'GatewayClass',
  metadata: { name: 'envoy' },
  spec: { controllerName: DEFAULT_CONTROLLER },
};

const gateway = (namespace: string): KubernetesObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Gateway',
  metadata: { name: 'public', namespace, labels: { team: 'a' } },
  spec: {
    gatewayClassName: 'envoy',
    tls: {
      frontend: {
        default: {
          validation: { caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'ca' }] },
        },
      },
    },
    listeners: [
      {
        name: 'https',
        port: 443,
        protocol: 'HTTPS',
        tls: { certificateRefs: [{ name: 'pair', namespace: 'certificates' }] },
      },
    ],
  },
});

const route = (namespace: string): KubernetesObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'HTTPRoute',
  metadata: { name: 'shop', namespace },
  spec: {
    parentRefs: [{ name: 'public' }],
    rules: [{ backendRefs: [{ name: 'shop', port: 80 }] }],
  },
});

const service = (namespace: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'shop', namespace },
  spec: { ports: [{ port: 80, targetPort: 3000, appProtocol: 'kubernetes.io/h2c' }] },
});

const secret: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'pair', namespace: 'certificates' },
  data: { 'tls.crt': 'eA==' },
};

const configMap = (name: string, namespace: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data: { 'ca.crt': 'authority', other: 'not ours' },
});

const bundle = (name: string, trustBundle: string): KubernetesObject => ({
  apiVersion: 'certificates.k8s.io/v1beta1',
  kind: 'ClusterTrustBundle',
  metadata: { name },
  spec: { trustBundle },
});

const policy: KubernetesObject = {
  apiVersion: `${GROUP}/v1`,
  kind: 'BackendTLSPolicy',
  metadata: { name: 'trusts', namespace: 'shop' },
  spec: {
    targetRefs: [{ group: '', kind: 'Service', name: 'shop' }],
    validation: {
      hostname: 'shop.example',
      caCertificateRefs: [
        { group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'trusted' },
      ],
    },
  },
};

const NAMESPACES = ['default', 'shop', 'certificates', 'gateway'];

const found = ({ written }: Reading) => written.resources;
const has = (id: string) => (reading: Reading) => found(reading).has(id);
const lacks = (id: string) => (reading: Reading) => !found(reading).has(id);
const messages = ({ problems }: Reading) => problems.map(({ message }) => message);

/** Grants ClusterTrustBundles to every account of a new cluster. */
const OPEN_TO_ALL = 'system:cluster-trust-bundle-discovery';
const BINDINGS = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterrolebindings',
};

const WITH_BUNDLES = {
  'feature-gates': 'ClusterTrustBundle=true',
  'runtime-config': 'certificates.k8s.io/v1beta1/clustertrustbundles=true',
};

describe('Gateway API in Kubernetes', { skip: SKIP }, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
    for (const namespace of NAMESPACES) await makeNamespace(api.admin, namespace);
    await applyDefinitions(api.admin);
  });
  after(() => api?.remove());

  async function reader(t: TestContext, ...more: Parameters<typeof readFrom>) {
    const started: ApiReader = await readFrom(...more);
    t.after(() => started.close());
    return started;
  }

  async function created(t: TestContext, ...objects: readonly KubernetesObject[]): Promise<void> {
    for (const object of objects) {
      const target = { cluster: api.admin, resource: placeOf(object) };
      const written = await createObject(target, object);
      assert.equal(written.kind, 'written', JSON.stringify(written));
      t.after(() => deleteObject(target, object.metadata.name));
    }
  }

  test('is read as soon as the cluster knows it, and nobody misses it before', async t => {
    const read = await reader(t, api.kubeconfig);
    await read.readingWhen(({ problems }) => problems.length === 0);
    assert.equal(
      read.asked.some(path => path.startsWith('/api/v1/')),
      false,
    );
    await applyGatewayApi(api.admin);
    await created(t, gatewayClass);
    await read.readingWhen(has('GatewayClass//envoy'));
  });

  test('comes with what it refers to, and with nothing else', async t => {
    const objects = [gatewayClass, gateway('default'), route('default'), service('default')];
    await created(t, ...objects, secret, configMap('ca', 'default'), configMap('b', 'default'));
    const read = await reader(t, api.kubeconfig);
    const reading = await read.readingWhen(has('Secret/certificates/pair'));
    const set = toResourceSet(found(reading).values(), []);
    assert.equal(set.knowsServices, true);
    assert.deepEqual(messages(reading), []);
    assert.deepEqual(
      set.configMaps.map(({ id, spec, document }) => [id, spec, document?.data]),
      [['ConfigMap/default/ca', { data: { 'ca.crt': 'authority' } }, { 'ca.crt': 'authority' }]],
    );
    const shop = set.services.find(({ id }) => id === 'Service/default/shop');
    assert.deepEqual(shop?.spec.ports, [
      { port: 80, targetPort: 3000, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' },
    ]);
    const [public_] = set.gateways;
    assert.equal(public_?.metadata?.generation, 1);
    assert.deepEqual(public_?.metadata?.labels, { team: 'a' });
    assert.match(public_?.metadata?.created ?? '', /^20\d\d-.*Z$/);
    const named = read.asked.filter(path => /secrets|configmaps/.test(path));
    assert.deepEqual([...new Set(named)].sort(), [
      '/api/v1/namespaces/certificates/secrets metadata.name=pair',
      '/api/v1/namespaces/default/configmaps metadata.name=ca',
    ]);
    assert.deepEqual(
      reading.gatewayApi.map(({ namespace, name, generation }) => [namespace, name, generation]),
      [
        ['default', 'public', 1],
        ['', 'envoy', 1],
        ['default', 'shop', 1],
      ],
    );
    assert.deepEqual(reading.objects, []);
  });

  test('comes without what Gateways of other controllers name', async t => {
    const foreign = {
      ...gatewayClass,
      metadata: { name: 'foreign' },
      spec: { controllerName: 'example.com/gateway-controller' },
    };
    const { spec, ...rest } = gateway('shop');
    const theirs = { ...rest, spec: { ...(spec as object), gatewayClassName: 'foreign' } };
    await created(t, gatewayClass, gateway('default'), foreign, theirs);
    await created(t, secret, configMap('ca', 'default'), configMap('ca', 'shop'));
    const read = await reader(t, api.kubeconfig);
    const reading = await read.readingWhen(has('ConfigMap/default/ca'));
    assert.ok(has('Gateway/shop/public')(reading));
    assert.ok(lacks('ConfigMap/shop/ca')(reading));
    assert.deepEqual(
      read.asked.filter(path => path.includes('/shop/')),
      [],
    );
  });

  test('follows edits and labels, and no change of a status', async t => {
    await created(t, gatewayClass, gateway('default'), route('default'), service('default'));
    const read = await reader(t, api.kubeconfig);
    await read.readingWhen(has('HTTPRoute/default/shop'));
    const patch = (object: KubernetesObject, change: object, part: { part?: 'status' } = {}) =>
      patchObject(
        { cluster: api.admin, resource: placeOf(object), ...part },
        object.metadata.name,
        change,
      );
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
    await patch(namespace, { metadata: { labels: { env: 'test' } } });
    const labelled = await read.readingWhen(reading => {
      const resource = found(reading).get('Namespace//shop');
      return resource?.metadata?.labels?.env === 'test';
    });
    const known = found(labelled).get('Service/default/shop');
    const ingress = [{ ip: '10.9.9.9' }];
    const status = { loadBalancer: { ingress } };
    await patch(service('default'), { status }, { part: 'status' });
    await patch(route('default'), { spec: { hostnames: ['shop.example.com'] } });
    const edited = await read.readingWhen(reading => {
      const resource = found(reading).get('HTTPRoute/default/shop');
      return resource?.kind === 'HTTPRoute' && resource.metadata?.generation === 2;
    });
    assert.equal(found(edited).get('Service/default/shop'), known);
    await deleteObject({ cluster: api.admin, resource: placeOf(route('default')) }, 'shop');
    await read.readingWhen(lacks('HTTPRoute/default/shop'));
  });

  /** A kubeconfig of an account with just these of our roles, in all namespaces or in some. */
  async function account(
    cluster: Cluster,
    name: string,
    roles: readonly string[],
    namespaces?: readonly string[],
  ): Promise<string> {
    const at = { namespace: 'gateway', name };
    await makeServiceAccount(cluster, at, []);
    for (const role of gatewayApiRoles().filter(role => roles.includes(role.metadata.name)))
      await grantCluster(
        cluster,
        at,
        role,
        role.metadata.name.endsWith('cluster') ? undefined : namespaces,
      );
    return api.writeKubeconfig(name, await issueToken(cluster, 'gateway', name));
  }

  for (const namespaces of [undefined, ['shop']])
    test(`needs the rights of our manifests alone, in ${namespaces ?? 'all namespaces'}`, async t => {
      await created(t, gatewayClass, gateway('shop'), route('shop'), service('shop'));
      await created(t, configMap('ca', 'shop'), secret);
      const roles = ['gateway-resources', 'gateway-api', 'gateway-api-cluster'];
      const name = namespaces === undefined ? 'everywhere' : 'somewhere';
      const kubeconfig = await account(api.admin, name, roles, namespaces);
      const read = await reader(t, kubeconfig, namespaces === undefined ? {} : { namespaces });
      const reading = await read.readingWhen(has('ConfigMap/shop/ca'));
      for (const id of ['Gateway/shop/public', 'Namespace//shop', 'Service/shop/shop'])
        assert.ok(has(id)(reading), id);
      assert.equal(has('Namespace//default')(reading), namespaces === undefined);
      const outside =
        'The Secret certificates/pair is not read: RESOURCES_KUBERNETES does not name its namespace. What is known stays in force';
      assert.deepEqual(messages(reading), namespaces === undefined ? [] : [outside]);
    });

  test('comes with the ClusterTrustBundles that it names, once the cluster has them', async t => {
    await created(t, gatewayClass, policy);
    const roles = ['gateway-resources', 'gateway-api', 'gateway-api-cluster'];
    const [rich, poor] = [
      await account(api.admin, 'trusting', roles),
      await account(api.admin, 'distrusting', roles.slice(0, 2)),
    ];
    const read = await reader(t, rich);
    const without = await read.readingWhen(has('BackendTLSPolicy/shop/trusts'));
    assert.deepEqual(messages(without), []);
    await api.stop();
    await api.start(WITH_BUNDLES);
    await deleteObject({ cluster: api.admin, resource: BINDINGS }, OPEN_TO_ALL);
    const { certificate } = await issueRoot({ now: Date.now(), lifetimeMs: 3_600_000 });
    await created(t, bundle('trusted', certificate), bundle('other', certificate));
    const reading = await read.readingWhen(has('ClusterTrustBundle//trusted'));
    const set = toResourceSet(found(reading).values(), []);
    assert.deepEqual(
      set.clusterTrustBundles.map(({ id, spec }) => [id, spec.trustBundle]),
      [['ClusterTrustBundle//trusted', certificate]],
    );
    await read.readingWhen(({ problems }) => problems.length === 0);
    const older = gatewayApiRoles().find(({ metadata }) => metadata.name === roles[2]);
    assert.ok(older);
    const rules = (older.rules as readonly { readonly apiGroups: readonly string[] }[]).filter(
      ({ apiGroups }) => !apiGroups.includes('certificates.k8s.io'),
    );
    const role = { ...older, metadata: { name: 'older' }, rules };
    await grantCluster(api.admin, { namespace: 'gateway', name: 'distrusting' }, role);
    const refused = await reader(t, poor);
    const { problems } = await refused.readingWhen(
      reading => has('BackendTLSPolicy/shop/trusts')(reading) && reading.problems.length > 0,
    );
    assert.deepEqual(
      problems.map(({ severity, message }) => [severity, message.split('.')[0]]),
      [['warning', 'ClusterTrustBundles are not read']],
    );
    const target = { cluster: api.admin, resource: placeOf(bundle('trusted', '')) };
    await deleteObject(target, 'trusted');
    await read.readingWhen(lacks('ClusterTrustBundle//trusted'));
  });

  test('is left out with a warning where it may not be read, and all else is served', async t => {
    await created(t, gatewayClass, gateway('shop'));
    const kubeconfig = await account(api.admin, 'poor', ['gateway-resources'], ['shop']);
    const read = await reader(t, kubeconfig, { namespaces: ['shop'] });
    const { problems, gatewayApi } = await read.readingWhen(() => true);
    assert.deepEqual(gatewayApi, []);
    assert.deepEqual(
      problems.map(({ severity }) => severity),
      ['warning'],
    );
    assert.match(
      problems[0]?.message ?? '',
      /^Gateway API is not served\. .* Otherwise grant it by a Role, as deploy\/kubernetes\/gateway-api does$/,
    );
  });

  test('stays as it is when a kind is added that may not be read, and this is said', async t => {
    await removeDefinition(api.admin, 'tcproutes', GROUP);
    await created(t, gatewayClass, gateway('shop'));
    const kubeconfig = await account(api.admin, 'before', ['gateway-resources']);
    const at = { namespace: 'gateway', name: 'before' };
    const roles = gatewayApiRoles().filter(({ metadata: { name } }) => /^gateway-api/.test(name));
    for (const { metadata, rules } of roles)
      await grantCluster(api.admin, at, {
        metadata: { name: `${metadata.name}-before` },
        rules: (rules as readonly Rule[]).map(rule => ({
          ...rule,
          resources: rule.resources.filter(each => each !== 'tcproutes'),
        })),
      });
    // Definitions are looked for without a long pause.
    const timers = (ms: number, run: () => void) => callAfter(ms === 5_000 ? 100 : ms, run);
    const read = await reader(t, kubeconfig, { timers });
    await read.readingWhen(has('Gateway/shop/public'));
    await applyGatewayApi(api.admin, ['TCPRoute']);
    const reading = await read.readingWhen(({ problems }) =>
      problems.some(({ message }) => message.includes('tcproutes.gateway.networking.k8s.io: 403')),
    );
    assert.ok(has('Gateway/shop/public')(reading));
    assert.match(
      reading.problems.map(({ severity, message }) => `${severity} ${message}`).join('\n'),
      /^error .*What is known stays in force\nerror edits of resources wait/m,
    );
  });
});
