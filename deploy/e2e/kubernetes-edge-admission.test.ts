import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { edgeObjects } from '#controlplane/edges/edge-objects.ts';
import { SYSTEM, sampleGateway } from '#controlplane/edges/testing/sample-gateway.ts';
import { until } from '#envoy/e2e/until.ts';
import {
  type KubeApiserver,
  kubectl,
  startKubeApiserver,
  whyNoKubeApiserver,
  whyNoKubectl,
} from '#kubernetes/testing/kube-apiserver.ts';
import { issueToken, makeNamespace } from '#kubernetes/testing/service-account.ts';
import { manifestsOf } from '../testing/manifests.ts';

/** What of the manifests the API server needs to judge a write. */
const JUDGED = [
  ...['ClusterRole', 'ClusterRoleBinding', 'ServiceAccount'],
  ...['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
];

const OBJECTS = edgeObjects(sampleGateway(), SYSTEM);
const [, deployment] = OBJECTS;

const VOLUMES_OF_THE_MACHINE =
  '"volumes":[{"name":"bootstrap","hostPath":{"path":"/"}},{"name":"identity","emptyDir":{}}]';

/** What a thief of the control plane's token would try with the rights to make proxies. */
const THEFTS: readonly [what: string, change: (text: string) => string, why: RegExp][] = [
  [
    'without the label',
    text => text.replaceAll('gateway.internal/edges', 'other'),
    /with its label/,
  ],
  [
    'with another Secret that its label names',
    text => text.replaceAll('"gateway-edges"', '"keys"'),
    /with its label/,
  ],
  [
    'with a folder of the machine beside an empty label',
    text =>
      text
        .replaceAll('"gateway.internal/edges":"gateway-edges"', '"gateway.internal/edges":""')
        .replace(/"volumes":\[.*\]/, VOLUMES_OF_THE_MACHINE),
    /with its label/,
  ],
  ['with a token', text => text.replace('"automountServiceAccountToken":false,', ''), /no token/],
  [
    'as another account',
    text => text.replace('"serviceAccountName":"public-gateway"', '"serviceAccountName":"admin"'),
    /no other account/,
  ],
  [
    'with another Secret',
    text => text.replace('"secretName":"gateway-edges"', '"secretName":"keys"'),
    /volumes/,
  ],
  [
    'with a folder of the machine',
    text => text.replace('"volumes":[', '"volumes":[{"name":"root","hostPath":{"path":"/"}},'),
    /volumes/,
  ],
  [
    'with a Secret in its environment',
    text => text.replace('"env":[', '"envFrom":[{"secretRef":{"name":"keys"}}],"env":['),
    /environment/,
  ],
  [
    'that is privileged',
    text => text.replace('"allowPrivilegeEscalation":false,', '"privileged":true,'),
    /one container/,
  ],
  [
    'with a capability',
    text => text.replace('"drop":["ALL"]', '"add":["SYS_MODULE"],"drop":["ALL"]'),
    /no capability/,
  ],
  [
    "with the machine's processes",
    text => text.replace('"enableServiceLinks"', '"hostPID":true,"enableServiceLinks"'),
    /namespaces/,
  ],
];

/** The same with the objects beside the pods, by their kind. */
const OTHERS: readonly [kind: string, what: string, change: (text: string) => string][] = [
  ['Service', 'the pods of others', text => text.replace('"gateway-edge"', '"database"')],
  [
    'Service',
    'a name elsewhere',
    text => text.replace(/"spec":.*/, '"spec":{"type":"ExternalName","externalName":"a.example"}}'),
  ],
  ['PodDisruptionBudget', 'all pods', text => text.replace(/"matchLabels":\{[^}]*\}/, '')],
  [
    'HorizontalPodAutoscaler',
    'the Deployment of others',
    text => text.replace(/("kind":"Deployment","name":)"[^"]*"/, '$1"database"'),
  ],
];

describe('the policy of what is written for Gateways', {
  skip: whyNoKubeApiserver() ?? whyNoKubectl() ?? false,
}, () => {
  let api: KubeApiserver;
  const as = new Map<string, { readonly kubeconfig: string }>();
  before(async () => {
    api = await startKubeApiserver();
    for (const name of ['gateway', 'shop']) await makeNamespace(api.admin, name);
    const judged = manifestsOf('kubernetes/gateway-api').filter(({ kind }) =>
      JUDGED.includes(kind),
    );
    const list = { apiVersion: 'v1', kind: 'List', items: judged };
    assert.equal(kubectl(api, ['apply', '-f', '-'], JSON.stringify(list)).stderr, '');
    for (const account of ['controlplane', 'sds']) {
      const token = await issueToken(api.admin, 'gateway', account);
      as.set(account, { kubeconfig: await api.writeKubeconfig(account, token) });
    }
    // A policy is in force a moment after it is written.
    await until(() => /denied/.test(write('controlplane', unlabelled)) || undefined);
  });
  after(() => api.remove());

  const write = (account: string, text: string, verb = 'create') => {
    const cluster = as.get(account);
    assert.ok(cluster);
    return kubectl(cluster, [verb, '--dry-run=server', '-f', '-'], text).stderr;
  };
  const unlabelled = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'a', namespace: 'shop' },
  });

  test('lets the control plane write the objects of a Gateway', () => {
    for (const object of OBJECTS)
      assert.equal(write('controlplane', JSON.stringify(object)), '', object.kind);
  });

  test('lets it write what is drained, in its own namespace alone', () => {
    const drained = (namespace: string) =>
      JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'ConfigMap', data: {} },
        metadata: { name: 'gateway-drained', namespace },
      });
    assert.equal(write('controlplane', drained('gateway')), '');
    assert.match(write('controlplane', drained('shop')), /denied/);
  });

  for (const [what, change, why] of THEFTS)
    test(`lets it write no Deployment ${what}`, () => {
      const text = JSON.stringify(deployment);
      assert.notEqual(change(text), text);
      assert.match(write('controlplane', change(text)), why);
    });

  for (const [kind, what, change] of OTHERS)
    test(`lets it write no ${kind} about ${what}`, () => {
      const { metadata, ...rest } = OBJECTS.find(each => each.kind === kind) ?? assert.fail(kind);
      const text = JSON.stringify(rest);
      assert.notEqual(change(text), text);
      const changed = JSON.stringify({ ...JSON.parse(change(text)), metadata });
      assert.match(write('controlplane', changed), /about the proxies of Gateways alone/);
    });

  test('lets it delete nothing that it has not made', () => {
    assert.equal(kubectl(api, ['create', '-f', '-'], unlabelled).stderr, '');
    assert.match(write('controlplane', unlabelled, 'delete'), /denied/);
  });

  test('lets sds write the Secret of identities alone, and no token of an account', () => {
    const secret = (name: string, type: string) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name,
          namespace: 'shop',
          annotations: { 'kubernetes.io/service-account.name': 'default' },
        },
        type,
      });
    assert.equal(write('sds', secret('gateway-edges', 'Opaque')), '');
    assert.match(write('sds', secret('other', 'Opaque')), /denied/);
    const token = secret('gateway-edges', 'kubernetes.io/service-account-token');
    assert.match(write('sds', token), /denied/);
  });
});
