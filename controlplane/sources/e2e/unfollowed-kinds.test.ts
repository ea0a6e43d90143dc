import assert from 'node:assert/strict';
import { after as afterAll, before, describe, type TestContext, test } from 'node:test';
import { readFrom } from '#controlplane/testing/api-reader.ts';
import { until } from '#envoy/e2e/until.ts';
import { startCutProxy } from '#kubernetes/testing/cut-proxy.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import {
  issueToken,
  makeNamespace,
  makeServiceAccount,
  type Rule,
} from '#kubernetes/testing/service-account.ts';
import { patchObject } from '#kubernetes/write.ts';
import { after } from '#process/after.ts';
import { kindNames, SERVED_KINDS } from '#resources/kubernetes/served-kinds.ts';
import {
  applyDefinition,
  applyDefinitions,
  create,
  type Document,
  patch,
  remove,
  removeDefinition,
} from '#resources/kubernetes/testing/objects.ts';
import type { Reading } from '../resource-sources.ts';

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const ALL = SERVED_KINDS.map(kind => kindNames(kind).plural);

/** The rights to follow these kinds, and Secrets. */
const rights = (resources: readonly string[]): readonly Rule[] => [
  { apiGroups: ['gateway.internal'], resources, verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] },
];

const document = (kind: string, name: string, namespace: string, spec: object): Document => ({
  apiVersion: 'gateway.internal/v2',
  kind,
  metadata: { name, namespace },
  spec,
});

const mapping = (name: string, namespace: string) =>
  document('Mapping', name, namespace, { prefix: `/${name}/`, service: name });

const policy = (name: string, namespace: string) =>
  document('FilterPolicy', name, namespace, {
    rules: [{ host: '*', path: `/${name}/*`, filters: [{ name: 'login' }] }],
  });

/** A Host names it, so it is read. */
const certificate = (namespace: string, text: string): Document => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'certificate', namespace },
  data: { 'tls.crt': Buffer.from(text).toString('base64') },
});

/** Definitions are looked for without a long pause. */
const timers = (ms: number, run: () => void) => after(ms === 30_000 ? 300 : ms, run);

const has = ({ written }: Reading, id: string) => written.resources.has(id);
const said = ({ problems }: Reading) => problems.map(({ message }) => message).join('\n');
const isRefused = (reading: Reading, plural: string) =>
  new RegExp(`refuses to (list|watch) ${plural}\\.gateway\\.internal .* 403`).test(said(reading));

/** Whether it is said that this kind is refused, and what follows. */
const waitsFor = (plural: string) => (reading: Reading) =>
  isRefused(reading, plural) &&
  /^edits of resources wait until all kinds can be read/m.test(said(reading));

describe('a kind that cannot be followed', { skip: whyNoKubeApiserver() ?? false }, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
    await applyDefinitions(api.admin);
  });
  afterAll(() => api?.remove());

  const rbac = (plural: string, namespace: string) => ({
    cluster: api.admin,
    resource: { ...RBAC, plural, namespace },
  });

  /** Reads namespaces of its own, through a wire, with the right to all kinds in them. */
  async function started(t: TestContext, ...namespaces: readonly [string, ...string[]]) {
    const [namespace] = namespaces;
    for (const each of namespaces) {
      await makeNamespace(api.admin, each);
      await makeServiceAccount(api.admin, { namespace: each, name: 'reader' }, rights(ALL));
      const subjects = [{ kind: 'ServiceAccount', name: 'reader', namespace }];
      await patchObject(rbac('rolebindings', each), 'reader', { subjects });
    }
    const wire = await startCutProxy(api.port);
    t.after(() => wire.close());
    const token = await issueToken(api.admin, namespace, 'reader');
    const server = `https://127.0.0.1:${wire.port}`;
    const kubeconfig = await api.writeKubeconfig(namespace, token, server);
    const host = { hostname: 'a.example', tlsSecret: { name: 'certificate' } };
    await create(api.admin, certificate(namespace, 'old'));
    await create(api.admin, document('Host', 'a', namespace, host));
    const read = await readFrom(kubeconfig, { namespaces, timers });
    t.after(() => read.close());
    await read.readingWhen(reading => has(reading, `Secret/${namespace}/certificate`));
    const secretOf = ({ written }: Reading) =>
      written.resources.get(`Secret/${namespace}/certificate`)?.hash;
    return {
      read,
      /** The API forgets nobody's watch, so a right counts from the next one. */
      async grant(kinds: readonly string[], place = namespace) {
        await patchObject(rbac('roles', place), 'reader', { rules: rights(kinds) });
        wire.cut();
        wire.mend();
      },
      /** Changes a Secret, and waits until it was read. */
      async renewed() {
        const before = secretOf(read.readings.at(-1) as Reading);
        const { data } = certificate(namespace, 'new');
        await patch(api.admin, certificate(namespace, ''), { data });
        return read.readingWhen(reading => secretOf(reading) !== before);
      },
      sees: (name: string) =>
        until(() => read.objects().some(object => object.name === name) || undefined),
    };
  }

  test('opens no path that a policy of it is for: edits wait, and this is said', async t => {
    const { read, grant, renewed, sees } = await started(t, 'refused');
    await grant(ALL.filter(kind => kind !== 'filterpolicies'));
    await read.readingWhen(waitsFor('filterpolicies'));
    await create(api.admin, policy('admin', 'refused'));
    await create(api.admin, mapping('admin', 'refused'));
    await sees('admin');
    assert.equal(has(await renewed(), 'Mapping/refused/admin'), false);
    await grant(ALL);
    const both = await read.readingWhen(reading => has(reading, 'Mapping/refused/admin'));
    assert.ok(has(both, 'FilterPolicy/refused/admin'));
    await read.readingWhen(({ problems }) => problems.length === 0);
    assert.deepEqual(
      read.readings.filter(
        reading =>
          has(reading, 'Mapping/refused/admin') && !has(reading, 'FilterPolicy/refused/admin'),
      ),
      [],
    );
  });

  test('keeps the policy that was deleted with what it was for', async t => {
    const { read, grant, renewed } = await started(t, 'deleted');
    const documents = [policy('admin', 'deleted'), mapping('admin', 'deleted')];
    for (const each of documents) await create(api.admin, each);
    await read.readingWhen(
      reading =>
        has(reading, 'Mapping/deleted/admin') && has(reading, 'FilterPolicy/deleted/admin'),
    );
    await grant(ALL.filter(kind => kind !== 'mappings'));
    await read.readingWhen(waitsFor('mappings'));
    for (const each of documents) await remove(api.admin, each);
    await until(
      () =>
        read.objects().every(({ collection }) => collection.plural !== 'filterpolicies') ||
        undefined,
    );
    assert.ok(has(await renewed(), 'FilterPolicy/deleted/admin'));
    await grant(ALL);
    await read.readingWhen(reading => !has(reading, 'Mapping/deleted/admin'));
    await read.readingWhen(reading => !has(reading, 'FilterPolicy/deleted/admin'));
  });

  test('stops no other namespace when nothing may be read in its own, as when that was deleted', async t => {
    const { read, grant } = await started(t, 'left', 'withdrawn');
    await create(api.admin, mapping('known', 'withdrawn'));
    await read.readingWhen(reading => has(reading, 'Mapping/withdrawn/known'));
    await grant(['none'], 'withdrawn');
    await read.readingWhen(reading => ALL.every(kind => isRefused(reading, kind)));
    await create(api.admin, mapping('new', 'left'));
    const reading = await read.readingWhen(each => has(each, 'Mapping/left/new'));
    assert.ok(has(reading, 'Mapping/withdrawn/known'));
  });

  test('is told when it is new, and is forgotten when its definition goes', async t => {
    const { read } = await started(t, 'new');
    const kind = { kind: 'AuthService', plural: 'authservices', version: 'v2' };
    await applyDefinition(api.admin, kind);
    await read.readingWhen(waitsFor('authservices'));
    await create(api.admin, mapping('late', 'new'));
    await removeDefinition(api.admin, kind.plural);
    await read.readingWhen(
      reading => has(reading, 'Mapping/new/late') && reading.problems.length === 0,
    );
  });
});
