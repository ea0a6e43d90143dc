import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after as afterAll, before, describe, type TestContext, test } from 'node:test';
import { groupOfPeer } from '#certificates/peer.ts';
import { until } from '#envoy/e2e/until.ts';
import { type Cluster, connectCluster } from '#kubernetes/cluster.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import {
  issueToken,
  makeNamespace,
  makeServiceAccount,
} from '#kubernetes/testing/service-account.ts';
import { createObject, deleteObject, getObject } from '#kubernetes/write.ts';
import { after } from '#process/after.ts';
import { EDGES_LABEL, GATEWAY_ANNOTATION } from '#resources/words/gateway-edges.ts';
import { gatewayGroup } from '#resources/words/gateway-group.ts';
import { testAuthority } from '../../testing/test-secrets.ts';
import { followEdgeAccounts } from '../follow-edge-accounts.ts';

const NAME = 'gateway-edges';
const HOUR = 3_600_000;
/** All that it needs in a namespace of Gateways. */
const RIGHTS = [
  { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  { apiGroups: [''], resources: ['secrets'], resourceNames: [NAME], verbs: ['get', 'update'] },
];

describe('the identities of Gateways in a real API', { skip: whyNoKubeApiserver() }, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
  });
  afterAll(() => api.remove());

  /** Follows a namespace of its own with no more rights than it needs. */
  const followed = async (t: TestContext, namespace: string, replicas = 1) => {
    await makeNamespace(api.admin, namespace);
    await makeServiceAccount(api.admin, { namespace, name: 'sds' }, RIGHTS);
    const token = await issueToken(api.admin, namespace, 'sds');
    const kubeconfig = await api.writeKubeconfig(`${namespace}-sds`, token);
    const authority = await testAuthority(t);
    const troubles: string[] = [];
    for (let replica = 0; replica < replicas; replica += 1) {
      const cluster = await connectCluster({ kubeconfig });
      const following = followEdgeAccounts({
        cluster,
        namespaces: [namespace],
        name: NAME,
        authority,
        trustDomain: 'gateway.internal',
        leafMs: HOUR,
        clock: { now: Date.now, random: Math.random, after },
        onWritten: () => {},
        onTrouble: (_place, reason) => troubles.push(reason),
        onUnread: reason => troubles.push(reason),
      });
      t.after(() => {
        following.close();
        cluster.close();
      });
    }
    return { troubles };
  };

  const accounts = (namespace: string) => ({
    cluster: api.admin,
    resource: { group: '', version: 'v1', plural: 'serviceaccounts', namespace },
  });
  const add = async (namespace: string, name: string, gateway: string) => {
    const made = await createObject(accounts(namespace), {
      metadata: {
        name,
        labels: { [EDGES_LABEL]: NAME },
        annotations: { [GATEWAY_ANNOTATION]: gateway },
      },
    });
    assert.equal(made.kind, 'written');
  };
  const keysOf = (secret: KubernetesObject | undefined) =>
    Object.keys((secret?.data ?? {}) as object).sort();
  const secretWith = (namespace: string, keys: readonly string[]) =>
    until(async () => {
      const secret = await secretOf(api.admin, namespace);
      return JSON.stringify(keysOf(secret)) === JSON.stringify([...keys].sort())
        ? secret
        : undefined;
    }, 30_000);
  const filesOf = (namespace: string, gateway: string) => {
    const group = gatewayGroup(namespace, gateway);
    return [`${group}.crt`, `${group}.key`];
  };

  test('the Gateways of a namespace share a Secret, in which each has an identity', async t => {
    const namespace = 'shop';
    const { troubles } = await followed(t, namespace, 2);
    await add(namespace, 'a', 'Gateway/shop/a');
    await secretWith(namespace, ['ca.crt', ...filesOf(namespace, 'a')]);
    await add(namespace, 'b', 'Gateway/shop/b');
    const keys = ['ca.crt', ...filesOf(namespace, 'a'), ...filesOf(namespace, 'b')];
    const secret = await secretWith(namespace, keys);
    for (const gateway of ['a', 'b']) {
      const group = gatewayGroup(namespace, gateway);
      const leaf = new X509Certificate(textOf(secret, `${group}.crt`));
      assert.equal(groupOfPeer(leaf.subjectAltName, 'gateway.internal'), group);
    }
    const owners = await until(async () => {
      const found = (await secretOf(api.admin, namespace))?.metadata.ownerReferences;
      return (found as { name: string }[] | undefined)?.map(({ name }) => name).sort();
    });
    assert.deepEqual(owners, ['a', 'b']);
    assert.deepEqual(troubles, []);
  });

  test('an account gets no identity of another namespace', async t => {
    const namespace = 'forging';
    await followed(t, namespace);
    const forged = [
      'Gateway/shop/a',
      'Gateway/forging/',
      'Mapping/forging/a',
      'Gateway/forging/a/b',
    ];
    for (const [index, gateway] of forged.entries()) await add(namespace, `f${index}`, gateway);
    await add(namespace, 'real', 'Gateway/forging/real');
    await secretWith(namespace, ['ca.crt', ...filesOf(namespace, 'real')]);
  });

  test('a removed Secret is written again, and its owners are those of now', async t => {
    const namespace = 'healed';
    await followed(t, namespace);
    await add(namespace, 'a', 'Gateway/healed/a');
    await secretWith(namespace, ['ca.crt', ...filesOf(namespace, 'a')]);
    await deleteObject({ cluster: api.admin, resource: secrets(namespace) }, NAME);
    await deleteObject(accounts(namespace), 'a');
    await add(namespace, 'a', 'Gateway/healed/a');
    const secret = await secretWith(namespace, ['ca.crt', ...filesOf(namespace, 'a')]);
    const account = await getObject(accounts(namespace), 'a');
    const [owner] = secret.metadata.ownerReferences as readonly { readonly uid: string }[];
    assert.equal(owner?.uid, account?.metadata.uid);
  });
});

const secrets = (namespace: string) => ({ group: '', version: 'v1', plural: 'secrets', namespace });

function secretOf(cluster: Cluster, namespace: string) {
  return getObject({ cluster, resource: secrets(namespace) }, NAME);
}

function textOf({ data }: KubernetesObject, key: string): string {
  return Buffer.from((data as Record<string, string>)[key] ?? '', 'base64').toString();
}
