import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { exportKey, generateKeys } from '#certificates/authority/key-pair.ts';
import { type Cluster, connectCluster } from '#kubernetes/cluster.ts';
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
import { getObject } from '#kubernetes/write.ts';
import { keptSecret } from '../../secrets/kept-secret.ts';
import { testAuthority } from '../../testing/test-secrets.ts';
import { accountKey } from '../account-key.ts';
import { readKept, writeKept } from '../kept-certificate.ts';

const NAMESPACE = 'shops';
const NAME = 'shop.example.com';
const SECRETS = { apiGroups: [''], resources: ['secrets'] };
/** The rights of the page about https, for these names. */
const RIGHTS = [
  { ...SECRETS, verbs: ['create'] },
  { ...SECRETS, resourceNames: ['shop-certificate', 'acme-account'], verbs: ['get', 'update'] },
];

describe('certificates of ACME authorities in a real API', { skip: whyNoKubeApiserver() }, () => {
  let api: KubeApiserver;
  let cluster: Cluster;

  before(async () => {
    api = await startKubeApiserver();
    await makeNamespace(api.admin, NAMESPACE);
    await makeServiceAccount(api.admin, { namespace: NAMESPACE, name: 'sds' }, RIGHTS);
    const token = await issueToken(api.admin, NAMESPACE, 'sds');
    cluster = await connectCluster({ kubeconfig: await api.writeKubeconfig('sds', token) });
  });
  after(async () => {
    cluster?.close();
    await api?.remove();
  });

  const kept = (name: string, type = 'kubernetes.io/tls') =>
    keptSecret(cluster, name, type, { namespace: NAMESPACE });

  test('are claimed by one process before there is one, and kept as TLS Secrets', async t => {
    const secret = kept('shop-certificate');
    const empty = await readKept(secret, NAME, Date.now());
    assert.deepEqual(empty, { pair: undefined, record: {}, mark: undefined, texts: {} });
    const claim = (by: string) => ({ claim: { by, until: Date.now() + 60_000 } });
    assert.equal(await writeKept(secret, empty, claim('a')), true);
    assert.equal(await writeKept(secret, empty, claim('b')), false);
    const claimed = await readKept(secret, NAME, Date.now());
    assert.deepEqual([claimed.record.claim?.by, claimed.pair], ['a', undefined]);
    const pair = await (await testAuthority(t)).server([NAME]);
    assert.equal(await writeKept(secret, claimed, { proved: 'http-01' }, pair), true);
    const issued = await readKept(secret, NAME, Date.now());
    assert.deepEqual([issued.pair?.certificate, issued.pair?.key], [pair.certificate, pair.key]);
    const resource = { group: '', version: 'v1', plural: 'secrets', namespace: NAMESPACE };
    const object = await getObject({ cluster: api.admin, resource }, 'shop-certificate');
    assert.equal(object?.type, 'kubernetes.io/tls');
  });

  test('have one account, whichever process needs it first', async () => {
    const generate = async () => exportKey((await generateKeys()).privateKey);
    const ask = () => accountKey(kept('acme-account', 'Opaque'), generate);
    const [first, second] = await Promise.all([ask(), ask()]);
    assert.match(first, /^-----BEGIN PRIVATE KEY-----/);
    assert.equal(first, second);
  });

  test('say which Secret they have no right to', async () => {
    await assert.rejects(readKept(kept('other'), NAME, Date.now()), /other.*forbidden/s);
  });
});
