import assert from 'node:assert/strict';
import { after as afterAll, before, describe, test } from 'node:test';
import { type Authority, openAuthority } from '#certificates/authority/authority.ts';
import { type Cluster, connectCluster } from '#kubernetes/cluster.ts';
import {
  type KubeApiserver,
  kubectl,
  startKubeApiserver,
  whyNoKubeApiserver,
  whyNoKubectl,
} from '#kubernetes/testing/kube-apiserver.ts';
import {
  issueToken,
  makeNamespace,
  makeServiceAccount,
} from '#kubernetes/testing/service-account.ts';
import { getObject } from '#kubernetes/write.ts';
import { after } from '#process/after.ts';
import { clusterCommands } from '../../../deploy/testing/install-commands.ts';
import { identitySecret } from '../identity-secret.ts';
import { keepIdentity } from '../keep-identity.ts';
import { secretAuthorityStore } from '../secret-authority-store.ts';

const NAMESPACE = 'default';
const SECRETS = { group: '', version: 'v1', plural: 'secrets', namespace: NAMESPACE };
/** All that keeping Secrets needs. */
const RIGHTS = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'update'] }];

const KEPT = {
  trustDomain: 'gateway.internal',
  leafMs: 3_600_000,
  clock: { now: Date.now, random: Math.random, after },
  onWritten: () => {},
  onTrouble: (_place: string, reason: string) => assert.fail(reason),
};

describe('Secrets that are kept in a real API', {
  skip: whyNoKubeApiserver() ?? whyNoKubectl(),
}, () => {
  let api: KubeApiserver;
  let cluster: Cluster;

  before(async () => {
    api = await startKubeApiserver();
    await makeNamespace(api.admin, NAMESPACE);
    cluster = await clusterOf('sds', RIGHTS);
  });

  afterAll(async () => {
    cluster?.close();
    await api?.remove();
  });

  async function clusterOf(name: string, rules: typeof RIGHTS): Promise<Cluster> {
    await makeServiceAccount(api.admin, { namespace: NAMESPACE, name }, rules);
    const token = await issueToken(api.admin, NAMESPACE, name);
    return connectCluster({ kubeconfig: await api.writeKubeconfig(name, token) });
  }

  function open(own = cluster, onTrouble = (_message: string) => {}) {
    return openAuthority({
      store: secretAuthorityStore(own, 'gateway-authority'),
      trustDomain: 'gateway.internal',
      leafMs: 3_600_000,
      rootMs: 36_000_000,
      onTrouble,
      now: Date.now,
      after: () => () => {},
    });
  }

  test('replicas that begin together agree on one root', async () => {
    const opened = await Promise.all([open(), open(), open()]);
    assert.equal(new Set(opened.map(authority => authority.roots())).size, 1);
    const object = await getObject({ cluster, resource: SECRETS }, 'gateway-authority');
    assert.deepEqual(
      [object?.type, object?.metadata.labels],
      ['Opaque', { 'app.kubernetes.io/managed-by': 'gateway' }],
    );
  });

  test('an identity is a Secret as containers mount it, and of two writers the first wins', async () => {
    const target = identitySecret(cluster, 'edge');
    const authority = await open();
    const material = { ...(await authority.identity('edge')), ca: authority.roots() };
    assert.equal(await target.read(), undefined);
    assert.equal(await target.write(material, undefined), true);
    assert.equal(await target.write(material, undefined), false);
    const kept = await target.read();
    assert.deepEqual(kept?.material, material);
    const next = { ...(await authority.identity('edge')), ca: authority.roots() };
    assert.equal(await target.write(next, kept?.mark), true);
    assert.equal(await target.write(material, kept?.mark), false);
    assert.deepEqual((await target.read())?.material, next);
    const object = await getObject({ cluster, resource: SECRETS }, 'gateway-identity-edge');
    assert.equal(object?.type, 'kubernetes.io/tls');
  });

  test('a stolen root ends by the commands of the page, and identities are issued again', async () => {
    const stolen = await open();
    const target = identitySecret(cluster, 'sds');
    const keep = (authority: Authority) =>
      keepIdentity({ ...KEPT, group: 'sds', target, authority });
    (await keep(stolen)).close();
    const before = (await target.read())?.material;
    assert.equal(before?.ca, stolen.roots());
    const commands = clusterCommands('docs/how-to/rotate-keys.md', 'Root of the authority');
    const [stop, gone, remove = '', start] = commands;
    assert.match(`${stop}; ${gone}; ${start}`, /replicas=0; .*--for=delete .*; .*replicas=2$/);
    const { status, stderr } = kubectl(
      api,
      remove.replace('-n gateway', `-n ${NAMESPACE}`).split(' ').slice(1),
    );
    assert.equal(status, 0, stderr);
    const next = await open();
    (await keep(next)).close();
    const now = (await target.read())?.material;
    assert.notEqual(next.roots(), stolen.roots());
    assert.equal(now?.ca, next.roots());
    assert.notEqual(now?.certificate, before?.certificate);
  });

  test('without the rights it does not start, and says what it may not do', async () => {
    const other = await clusterOf('nobody', [
      { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
    ]);
    await assert.rejects(open(other), /secrets.*gateway-authority.*forbidden|forbidden/i);
    other.close();
  });
});
