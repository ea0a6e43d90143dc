import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pino from 'pino';
import { parseAllDocuments } from 'yaml';
import { shareDrains } from '#controlplane/orders/shared-drains.ts';
import { until } from '#envoy/e2e/until.ts';
import { type ApiRequest, type Cluster, connectCluster } from '#kubernetes/cluster.ts';
import { resourcePath } from '#kubernetes/resource.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
  whyNoKubectl,
} from '#kubernetes/testing/kube-apiserver.ts';
import { issueToken } from '#kubernetes/testing/service-account.ts';
import { after as later } from '#process/after.ts';
import { codeBlocks, readDocument } from '../../readme/code-blocks.ts';
import { type Manifest, manifestsOf, ofKind, workloadsOf } from '../testing/manifests.ts';

const skip = whyNoKubeApiserver() ?? whyNoKubectl() ?? false;

const OURS = [
  ...['filters', 'filterpolicies', 'hosts', 'listeners', 'logservices', 'mappings', 'modules'],
  ...['proxyconfigs', 'ratelimits', 'ratelimitservices', 'tlscontexts', 'tracingservices'],
];
const NAMESPACES = ['gateway', 'gateway-resources', 'default', 'kube-system'];
const IDENTITIES = ['controlplane', 'ext-authz', 'ratelimit-service', 'edge', 'user-service'];

/**
 * All rights of each account beyond those of every account, as `namespace: verb group/resource
 * name`.
 */
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  controlplane: [
    'gateway: create coordination.k8s.io/leases',
    'gateway: get coordination.k8s.io/leases gateway-controlplane-status',
    'gateway: get coordination.k8s.io/leases gateway-edges',
    'gateway: update coordination.k8s.io/leases gateway-controlplane-status',
    'gateway: update coordination.k8s.io/leases gateway-edges',
    'gateway: create /configmaps',
    ...['list', 'watch', 'patch'].map(verb => `gateway: ${verb} /configmaps gateway-drained`),
    'gateway-resources: list /secrets',
    'gateway-resources: watch /secrets',
    ...OURS.flatMap(plural => [
      `gateway-resources: list gateway.internal/${plural}`,
      `gateway-resources: watch gateway.internal/${plural}`,
      `gateway-resources: patch gateway.internal/${plural}/status`,
    ]),
  ],
  sds: [
    'gateway: list discovery.k8s.io/endpointslices',
    'gateway: watch discovery.k8s.io/endpointslices',
    'gateway: list /services',
    'gateway: watch /services',
    'gateway: create /secrets',
    ...['gateway-authority', ...IDENTITIES.map(group => `gateway-identity-${group}`)].flatMap(
      name => [`gateway: get /secrets ${name}`, `gateway: update /secrets ${name}`],
    ),
  ],
  edge: [],
  'ext-authz': [],
  'ratelimit-service': [],
  valkey: [],
  'valkey-counters': [],
  'user-service': [],
  postgres: [],
};

/**
 * What a thief of a token would try. None of it may work for any account, except by the rights
 * above.
 */
const THEFTS: readonly ApiRequest[] = [
  ...NAMESPACES.map(namespace => ({
    method: 'GET' as const,
    path: `/api/v1/namespaces/${namespace}/secrets`,
  })),
  { method: 'GET', path: '/api/v1/secrets' },
  { method: 'GET', path: '/api/v1/namespaces/gateway/secrets/valkey-password' },
  { method: 'GET', path: '/api/v1/namespaces/gateway/secrets/gateway-authority' },
  {
    method: 'GET',
    path: '/api/v1/namespaces/gateway/secrets',
    query: { fieldSelector: 'metadata.name=gateway-authority' },
  },
  { method: 'DELETE', path: '/api/v1/namespaces/gateway/secrets/gateway-authority' },
  { method: 'POST', path: '/api/v1/namespaces/gateway/pods', body: pod('thief') },
  { method: 'POST', path: '/api/v1/namespaces/gateway/serviceaccounts/sds/token', body: {} },
  {
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/gateway/deployments/edge',
    contentType: 'application/merge-patch+json',
    body: {},
  },
  {
    method: 'DELETE',
    path: '/apis/networking.k8s.io/v1/namespaces/gateway/networkpolicies/default-deny',
  },
  {
    method: 'PATCH',
    path: '/apis/rbac.authorization.k8s.io/v1/namespaces/gateway/roles/sds',
    contentType: 'application/merge-patch+json',
    body: {},
  },
  {
    method: 'PATCH',
    path: '/apis/gateway.internal/v2/namespaces/gateway-resources/mappings/user-service',
    contentType: 'application/merge-patch+json',
    body: { spec: { prefix: '/' } },
  },
  {
    method: 'DELETE',
    path: '/apis/gateway.internal/v2/namespaces/gateway-resources/mappings/user-service',
  },
  { method: 'GET', path: '/api/v1/nodes' },
];

const MAY: Readonly<Record<string, readonly string[]>> = {
  controlplane: ['GET /api/v1/namespaces/gateway-resources/secrets'],
  sds: ['GET /api/v1/namespaces/gateway/secrets/gateway-authority'],
};

type List = {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly generation: number };
  }[];
};

type Rules = {
  readonly status: {
    readonly incomplete: boolean;
    readonly resourceRules: readonly {
      readonly verbs: readonly string[];
      readonly apiGroups?: readonly string[];
      readonly resources?: readonly string[];
      readonly resourceNames?: readonly string[];
    }[];
  };
};

describe('the manifests on a Kubernetes API', { skip }, () => {
  let api: KubeApiserver;
  let manifests: readonly Manifest[] = [];
  let anybody: ReadonlySet<string> = new Set();

  /** The API rejects unknown fields. An object of a new kind takes a moment. */
  const apply = async (manifest: Manifest) => {
    const { name, namespace } = manifest.metadata;
    const request = {
      method: 'PATCH',
      path: resourcePath(
        { ...groupOf(manifest), plural: pluralOf(manifest.kind), namespace },
        name,
      ),
      query: { fieldManager: 'test', fieldValidation: 'Strict' },
      contentType: 'application/apply-patch+yaml',
      body: manifest,
    } as const;
    const answer = await until(async () => {
      const found = await api.admin.call(request);
      return found.status === 404 ? undefined : found;
    });
    assert.ok(
      [200, 201].includes(answer.status),
      `${manifest.kind} ${name}: ${JSON.stringify(answer.body)}`,
    );
  };

  const as = async <T>(
    account: string,
    ask: (call: typeof api.admin.call, cluster: Cluster) => Promise<T>,
  ): Promise<T> => {
    const token = await issueToken(api.admin, 'gateway', account);
    const kubeconfig = await api.writeKubeconfig(account, token);
    const cluster = { ...(await connectCluster({ kubeconfig })), namespace: 'gateway' };
    return await ask(cluster.call, cluster).finally(() => cluster.close());
  };

  const rightsOf = (account: string) =>
    as(account, async call => {
      const found: string[] = [];
      for (const namespace of NAMESPACES) {
        const body = {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectRulesReview',
          spec: { namespace },
        };
        const answer = await call({
          method: 'POST',
          path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
          body,
        });
        found.push(...rightsIn(answer.body as Rules).map(right => `${namespace}: ${right}`));
      }
      return found;
    });

  before(async () => {
    api = await startKubeApiserver();
    manifests = manifestsOf('kubernetes/demo');
    const definitions = ofKind(manifestsOf('kubernetes'), 'CustomResourceDefinition');
    const [namespaces, others] = [ofKind(manifests, 'Namespace'), [...definitions, ...manifests]];
    for (const manifest of namespaces) await apply(manifest);
    await Promise.all(others.map(apply));
    await apply({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'anybody', namespace: 'gateway' },
    });
    anybody = new Set(await rightsOf('anybody'));
  });
  after(() => api?.remove());

  test('can be applied again, and restart no pod', async () => {
    const generations = async () => {
      const paths = ['deployments', 'statefulsets'].map(
        plural => `/apis/apps/v1/namespaces/gateway/${plural}`,
      );
      const answers = await Promise.all(paths.map(path => api.admin.call({ method: 'GET', path })));
      return answers.flatMap(({ body }) =>
        (body as List).items.map(({ metadata }) => [metadata.name, metadata.generation]),
      );
    };
    const before = await generations();
    assert.equal(before.length, workloadsOf(manifests).length);
    await Promise.all(manifests.map(apply));
    assert.deepEqual(await generations(), before);
  });

  test('say nothing that the API does not know: it would refuse them', async () => {
    const [workload] = workloadsOf(manifests);
    assert.ok(workload);
    const misspelt = { ...workload, spec: { ...workload.spec, replicaz: 2 } };
    await assert.rejects(apply(misspelt), /replicaz/);
  });

  test('are joined by the objects that the page about Kubernetes shows', async () => {
    const shown = codeBlocks(readDocument('docs/how-to/kubernetes.md'), 'yaml')
      .flatMap(code => parseAllDocuments(code).map(document => document.toJS() as Manifest))
      .filter(({ kind }) => kind !== 'Kustomization');
    assert.deepEqual(shown.map(({ kind }) => kind).sort(), ['Host', 'Mapping', 'NetworkPolicy']);
    await Promise.all(shown.map(apply));
  });

  test('ask for pods that the strictest standard for pods admits', async () => {
    const create = (name: string, spec: object) => {
      const path = '/api/v1/namespaces/gateway/pods';
      return api.admin.call({
        method: 'POST',
        path,
        query: { dryRun: 'All', fieldValidation: 'Strict' },
        body: pod(name, spec),
      });
    };
    for (const { metadata, spec } of workloadsOf(manifests)) {
      const claims = (spec.volumeClaimTemplates ?? []).map(({ metadata: { name } }) => ({
        name,
        emptyDir: {},
      }));
      const podSpec = spec.template.spec;
      const whole = { ...podSpec, volumes: [...(podSpec.volumes ?? []), ...claims] };
      const answer = await create(metadata.name, whole);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      // The standard is in force. What it forbids is rejected.
      assert.equal((await create(metadata.name, { ...whole, hostNetwork: true })).status, 403);
    }
  });

  test('give each account what it needs, and no other a right', async () => {
    assert.deepEqual(
      Object.keys(RIGHTS).sort(),
      workloadsOf(manifests)
        .map(({ spec }) => spec.template.spec.serviceAccountName)
        .sort(),
    );
    for (const [account, rights] of Object.entries(RIGHTS)) {
      const found = (await rightsOf(account)).filter(right => !anybody.has(right));
      assert.deepEqual(found.sort(), [...rights].sort(), account);
    }
    assert.deepEqual(
      [...anybody].filter(right => !right.includes('.k8s.io/self')),
      [],
    );
  });

  test('let each control plane know what another has drained', async () => {
    const [one, two] = [
      { address: '10.0.0.1', port: 80 },
      { address: 'fd00::1', port: 81 },
    ] as const;
    await as('controlplane', async (_call, cluster) => {
      const drained: string[] = [];
      const open = (number: number) =>
        shareDrains({
          cluster,
          name: 'gateway-drained',
          take: all => {
            drained[number] = all
              .map(({ address }) => address)
              .sort()
              .join();
          },
          log: pino({ level: 'silent' }),
          after: later,
          random: Math.random,
        });
      const planes = [0, 1].map(open);
      const both = (wanted: string) =>
        until(() => [0, 1].every(number => drained[number] === wanted) || undefined);
      await both('');
      await Promise.all([planes[0]?.share(one, true), planes[1]?.share(two, true)]);
      await both('10.0.0.1,fd00::1');
      await planes[1]?.share(one, false);
      await both('fd00::1');
      for (const plane of planes) plane.close();
    });
  });

  test('refuse what a thief of a token would try', async () => {
    for (const account of Object.keys(RIGHTS)) {
      await as(account, async call => {
        for (const request of THEFTS) {
          const { status } = await call(request);
          const name = `${request.method} ${request.path}`;
          const may = request.query === undefined && MAY[account]?.includes(name) === true;
          assert.equal(status === 403, !may, `${account}: ${name}: ${status}`);
        }
      });
    }
  });
});

function groupOf({ apiVersion }: Manifest): { group: string; version: string } {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return { group, version };
}

function pluralOf(kind: string): string {
  return kind.toLowerCase().replace(/y$/, 'ie').concat('s');
}

function rightsIn({ status }: Rules): readonly string[] {
  assert.equal(status.incomplete, false);
  return status.resourceRules.flatMap(
    ({ verbs, apiGroups = [], resources = [], resourceNames = [''] }) =>
      verbs.flatMap(verb =>
        apiGroups.flatMap(group =>
          resources.flatMap(resource =>
            resourceNames.map(name => `${verb} ${group}/${resource} ${name}`.trimEnd()),
          ),
        ),
      ),
  );
}

function pod(name: string, spec: object = { containers: [{ name, image: name }] }): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
}
