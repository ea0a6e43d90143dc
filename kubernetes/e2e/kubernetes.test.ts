import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after as afterAll, before, describe, type TestContext, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { after } from '#process/after.ts';
import { type Cluster, connectCluster } from '../cluster.ts';
import { ClusterError } from '../cluster-error.ts';
import { lead } from '../lease.ts';
import { type CutProxy, startCutProxy } from '../testing/cut-proxy.ts';
import { followed } from '../testing/followed.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '../testing/kube-apiserver.ts';
import {
  issueToken,
  makeNamespace,
  makeServiceAccount,
  mountServiceAccount,
} from '../testing/service-account.ts';
import {
  applyObject,
  createObject,
  deleteObject,
  getObject,
  patchObject,
  updateObject,
} from '../write.ts';

const OTHER_CA = join(
  import.meta.dirname,
  '..',
  '..',
  'envoy',
  'e2e',
  'testdata',
  'self-signed.pem',
);

const READ = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }];

describe('the API of a cluster', { skip: whyNoKubeApiserver() ?? false }, () => {
  let api: KubeApiserver;
  let admin: Cluster;
  /** Its watches end after a second. */
  let short: Cluster;
  before(async () => {
    api = await startKubeApiserver();
    admin = api.admin;
    short = {
      ...admin,
      open: ({ query, ...request }, signal) =>
        admin.open({ ...request, query: { ...query, timeoutSeconds: '1' } }, signal),
    };
  });
  afterAll(() => api.remove());

  const configMaps = (namespace: string) => ({
    group: '',
    version: 'v1',
    plural: 'configmaps',
    namespace,
  });
  const write = (namespace: string) => ({ cluster: admin, resource: configMaps(namespace) });
  const put = (namespace: string, name: string, data: object = {}) =>
    applyObject(
      write(namespace),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data },
      { fieldManager: 'test', force: true },
    );

  async function connected(t: TestContext, kubeconfig: string): Promise<Cluster> {
    const cluster = await connectCluster({ kubeconfig, timeoutMs: 5_000 });
    t.after(cluster.close);
    return cluster;
  }

  async function behindProxy(t: TestContext): Promise<{ cluster: Cluster; proxy: CutProxy }> {
    const proxy = await startCutProxy(api.port);
    t.after(proxy.close);
    const server = `https://127.0.0.1:${proxy.port}`;
    return {
      cluster: await connected(t, await api.writeKubeconfig('proxied', 'admin-token', server)),
      proxy,
    };
  }

  test('all pages of a list are told at once, then each change by its key', async t => {
    await makeNamespace(admin, 'pages');
    const names = Array.from({ length: 501 }, (_, at) => `n${at}`);
    await Promise.all(names.map(name => put('pages', name)));
    const it = followed(t, admin, configMaps('pages'));
    await until(() => it.objects());
    assert.equal(it.objects()?.size, 501);
    assert.equal(it.changes.length, 1);
    assert.equal(
      it.objects()?.get('pages/n1')?.kind,
      'ConfigMap',
      'also where only the list says so',
    );
    assert.equal(it.objects()?.get('pages/n1')?.metadata.managedFields, undefined);
    await until(() => (it.watches() > 0 ? true : undefined));
    await put('pages', 'new');
    await until(() => (it.changes.at(-1) === 'pages/new' ? true : undefined));
    await put('pages', 'new', { a: '1' });
    await until(() => (it.objects()?.get('pages/new')?.data !== undefined ? true : undefined));
    await deleteObject(write('pages'), 'new');
    await until(() => (it.objects()?.has('pages/new') ? undefined : true));
    assert.deepEqual(it.troubles, []);
  });

  test('while the API is away the last objects stay; back, only what differs is told', async t => {
    await makeNamespace(admin, 'away');
    for (const name of ['kept', 'changed', 'deleted']) await put('away', name);
    const { cluster, proxy } = await behindProxy(t);
    const it = followed(t, cluster, configMaps('away'));
    await until(() => (it.watches() > 0 ? true : undefined));
    proxy.cut();
    await until(() => it.troubles[0]);
    await put('away', 'changed', { a: '1' });
    await put('away', 'new');
    await deleteObject(write('away'), 'deleted');
    await api.stop();
    await until(() => (it.troubles.length > 1 ? true : undefined));
    assert.deepEqual([...(it.objects()?.keys() ?? [])].length, 3);
    // Its watch cache begins anew: to the version that is known here it says 410.
    await api.start();
    proxy.mend();
    await until(() => (it.changes.length > 1 ? true : undefined));
    assert.equal(it.changes.at(-1), 'away/changed,away/deleted,away/new');
    assert.equal(it.lists(), 2, 'a version that is too old is answered by a list');
    assert.doesNotMatch(it.troubles.join(), /410/, 'which is no trouble');
    await put('away', 'later');
    await until(() => (it.objects()?.has('away/later') ? true : undefined));
  });

  /** Watches are given up after 300 ms. */
  const hasty = (ms: number, run: () => void) => after(ms > 10_000 ? 300 : ms, run);

  test('a connection that is dead without a sign is given up, and nothing is missed', async t => {
    await makeNamespace(admin, 'silent');
    const { cluster, proxy } = await behindProxy(t);
    const it = followed(t, cluster, configMaps('silent'), hasty);
    await until(() => (it.watches() > 0 ? true : undefined));
    await put('silent', 'first');
    await until(() => (it.objects()?.has('silent/first') ? true : undefined));
    proxy.freeze();
    await put('silent', 'new');
    await until(() => (it.objects()?.has('silent/new') ? true : undefined));
    assert.match(
      it.troubles[0] ?? '',
      /does not end a watch of configmaps in namespace "silent" in time/,
    );
  });

  test('behind a proxy that lets no event of a watch through, changes come by lists', async t => {
    await makeNamespace(admin, 'held');
    const held: Cluster = {
      ...admin,
      open: async (request, signal) => {
        const { statusCode = 0 } = await admin.open(request, signal);
        const answer = Object.assign(new IncomingMessage(new Socket()), { statusCode });
        signal.addEventListener('abort', () => answer.destroy(new Error('aborted')));
        return answer;
      },
    };
    const it = followed(t, held, configMaps('held'), hasty);
    for (const name of ['one', 'two']) {
      await until(() => (it.watches() > 0 ? true : undefined));
      await put('held', name);
      await until(() => (it.objects()?.has(`held/${name}`) ? true : undefined));
    }
    assert.match(it.troubles[0] ?? '', /does not end a watch of configmaps in namespace "held"/);
  });

  test('a server that ends a watch in its time is no trouble', async t => {
    await makeNamespace(admin, 'timed');
    const it = followed(t, short, configMaps('timed'));
    await until(() => (it.watches() > 2 ? true : undefined));
    await put('timed', 'new');
    await until(() => (it.changes.at(-1) === 'timed/new' ? true : undefined));
    assert.deepEqual([it.troubles, it.changes.length], [[], 2]);
  });

  test('a server that was restored, and is not yet where we were, is listed anew', async t => {
    await makeNamespace(admin, 'restored');
    let lists = 0;
    const before: Cluster = {
      ...short,
      call: async request => {
        const answer = await admin.call(request);
        lists += 1;
        const future = { ...(answer.body as object), metadata: { resourceVersion: '999999999' } };
        return lists === 1 ? { ...answer, body: future } : answer;
      },
    };
    const it = followed(t, before, configMaps('restored'));
    await until(() => (it.watches() > 0 ? true : undefined));
    await put('restored', 'new');
    await until(() => (it.objects()?.has('restored/new') ? true : undefined));
    assert.deepEqual(it.troubles, []);
  });

  test('a server that was restored, and is past where we were when it answers again, is listed anew', async t => {
    await makeNamespace(admin, 'passed');
    await put('passed', 'kept');
    const { cluster, proxy } = await behindProxy(t);
    const it = followed(t, cluster, configMaps('passed'));
    await until(() => (it.watches() > 0 ? true : undefined));
    const etcd = join(api.caFile, '..', '..', 'etcd');
    await api.stop();
    await cp(etcd, `${etcd}-backup`, { recursive: true });
    await api.start();
    await put('passed', 'lost');
    await until(() => (it.objects()?.has('passed/lost') ? true : undefined));
    proxy.cut();
    await api.stop();
    await rm(etcd, { recursive: true });
    await rename(`${etcd}-backup`, etcd);
    await api.start();
    // Other writers bring it past the version of what is lost.
    for (const at of Array(20).keys()) await put('passed', 'other', { at: String(at) });
    proxy.mend();
    await until(() => (it.objects()?.has('passed/other') ? true : undefined));
    assert.deepEqual([...(it.objects()?.keys() ?? [])].sort(), ['passed/kept', 'passed/other']);
  });

  test('a list that begins anew is no trouble, one that never ends is', async t => {
    await makeNamespace(admin, 'endless');
    let refusals = 1;
    const late: Cluster = {
      ...admin,
      call: async request => {
        refusals -= 1;
        return refusals < 0 ? admin.call(request) : { status: 410, body: { message: 'too old' } };
      },
    };
    const once = followed(t, late, configMaps('endless'));
    await until(() => (once.watches() > 0 ? true : undefined));
    assert.deepEqual(once.troubles, []);
    refusals = 4;
    const never = followed(t, late, configMaps('endless'));
    await until(() => (never.watches() > 0 ? true : undefined));
    assert.deepEqual(never.troubles.length, 1);
    assert.match(
      never.troubles[0] ?? '',
      /refuses to list configmaps in namespace "endless": 410 too old/,
    );
  });

  test('a list that fails is given as long as the API server may take for it', async t => {
    await makeNamespace(admin, 'slow');
    await put('slow', 'new');
    const times: (number | undefined)[] = [];
    const slow: Cluster = {
      ...admin,
      call: async request => {
        times.push(request.timeoutMs);
        if (times.length === 1) throw new ClusterError('it took too long');
        return admin.call(request);
      },
    };
    const it = followed(t, slow, configMaps('slow'));
    await until(() => (it.objects()?.has('slow/new') ? true : undefined));
    assert.deepEqual(times, [undefined, 60_000]);
  });

  test('a kind that was gone for a while is listed anew', async t => {
    await makeNamespace(admin, 'undefined');
    let opened = 0;
    const losing: Cluster = {
      ...admin,
      open: (request, signal) => {
        opened += 1;
        if (opened === 1) return short.open(request, signal);
        return admin.open(opened === 2 ? { ...request, path: '/apis/none' } : request, signal);
      },
    };
    const it = followed(t, losing, configMaps('undefined'));
    await until(() => (it.watches() > 0 ? true : undefined));
    await put('undefined', 'new');
    // It also lists after the first watch, which ends before its time.
    await until(() => (it.lists() === 3 ? true : undefined));
    assert.match(it.troubles[0] ?? '', /404/);
  });

  test('a right that is missing in one namespace stops no other, and is used when it is granted', async t => {
    for (const namespace of ['open', 'shut']) await makeNamespace(admin, namespace);
    const account = { namespace: 'open', name: 'reader' };
    await makeServiceAccount(admin, account, READ);
    const token = await issueToken(admin, 'open', 'reader');
    const cluster = await connected(t, await api.writeKubeconfig('reader', token));
    const open = followed(t, cluster, configMaps('open'));
    const shut = followed(t, cluster, configMaps('shut'));
    await until(() => shut.troubles[0]);
    assert.match(
      shut.troubles[0] ?? '',
      /^The Kubernetes API at \S+ refuses to list configmaps in namespace "shut": 403 .*\. If the namespace was deleted, take it out of the configuration\. Otherwise grant it by a Role$/,
    );
    await put('open', 'a');
    await until(() => (open.objects()?.has('open/a') ? true : undefined));
    assert.equal(shut.objects(), undefined, 'nothing is known, which is not the same as nothing');
    await makeServiceAccount(admin, { namespace: 'shut', name: 'reader' }, READ);
    const binding = { cluster: admin, resource: rbac('shut') };
    await patchObject(binding, 'reader', { subjects: [{ kind: 'ServiceAccount', ...account }] });
    await until(() => shut.objects());
  });

  test('a kind that does not exist yet is followed as soon as it does', async t => {
    const resource = { group: 'test.example.org', version: 'v1', plural: 'things' };
    const it = followed(t, admin, resource);
    await until(() => it.troubles[0]);
    assert.match(it.troubles[0] ?? '', /404 .*\. Apply its CustomResourceDefinition$/);
    await createObject({ cluster: admin, resource: CRDS }, THINGS);
    await until(() => it.objects());
  });

  test('token and authority of a container are read again when they rotate', async t => {
    await makeNamespace(admin, 'mounted');
    await makeServiceAccount(admin, { namespace: 'mounted', name: 'reader' }, READ);
    const root = await mkdtemp(join(tmpdir(), 'gateway-mounted-'));
    t.after(() => rm(root, { recursive: true, force: true }));
    const mounted = await mountServiceAccount(root, api, 'mounted', 'expired-token');
    inCluster(t, api.port);
    const cluster = await connectCluster({ root });
    t.after(cluster.close);
    assert.equal(cluster.namespace, 'mounted');
    const get = () =>
      cluster.call({ method: 'GET', path: '/api/v1/namespaces/mounted/configmaps' });
    assert.equal((await get()).status, 401);
    await mounted.writeToken(await issueToken(admin, 'mounted', 'reader'));
    assert.equal(
      (await get()).status,
      200,
      'at once, not only when the package reads the file again',
    );
    const ca = join(mounted.folder, 'ca.crt');
    await copyFile(OTHER_CA, ca);
    await assert.rejects(get, /does not answer: .*(certificate|self-signed)/i);
    await mountServiceAccount(root, api, 'mounted', await issueToken(admin, 'mounted', 'reader'));
    assert.equal((await get()).status, 200);
  });

  test('errors never show the token', async t => {
    const cluster = await connected(t, await api.writeKubeconfig('wrong', 'secret-token-123'));
    const it = followed(t, cluster, configMaps('default'));
    await until(() => it.troubles[0]);
    assert.match(it.troubles[0] ?? '', /401 Unauthorized/);
    assert.doesNotMatch(JSON.stringify(it.troubles), /secret-token/);
  });

  test('a conflict is a value, and so is whatever else will not succeed by trying again', async () => {
    const target = write('default');
    const made = await createObject(target, { metadata: { name: 'one' } });
    assert.equal(made.kind, 'written');
    assert.equal((await createObject(target, { metadata: { name: 'one' } })).kind, 'conflict');
    await patchObject(target, 'one', { data: { a: '1' } });
    assert.ok(made.kind === 'written');
    assert.equal((await updateObject(target, made.object)).kind, 'conflict');
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'one' },
      data: { a: '2' },
    };
    assert.equal((await applyObject(target, object, { fieldManager: 'us' })).kind, 'conflict');
    assert.equal(
      (await applyObject(target, object, { fieldManager: 'us', force: true })).kind,
      'written',
    );
    assert.deepEqual((await getObject(target, 'one'))?.data, { a: '2' });
    assert.equal((await patchObject(target, 'none', {})).kind, 'missing');
    assert.equal(
      (await createObject(target, { metadata: { name: 'NOT A NAME' } })).kind,
      'refused',
    );
    assert.equal(await deleteObject(target, 'one'), 'written');
    assert.equal(await deleteObject(target, 'one'), 'missing');
    assert.equal(await getObject(target, 'one'), undefined);
  });

  test('of two candidates one leads; the other follows at once when that gives up', async t => {
    const long = (holder: string) => candidate(t, admin, holder, 'shared', () => {}, 8);
    const [a, b] = [long('a'), long('b')];
    await until(() => (a.leads() || b.leads() ? true : undefined));
    const [first, second] = a.leads() ? [a, b] : [b, a];
    await first.close();
    await until(() => (second.leads() ? true : undefined), 6_000);
    assert.equal(first.leads(), false);
  });

  test('a leader that yields gives up, and leads again when it yields no more', async t => {
    const yielding = new Set<string>();
    const start = (holder: string) =>
      candidate(t, admin, holder, 'yielded', undefined, 8, () => yielding.has(holder));
    const a = start('a');
    await until(() => (a.leads() ? true : undefined));
    yielding.add('a');
    await until(() => (a.leads() ? undefined : true));
    const b = start('b');
    await until(() => (b.leads() ? true : undefined), 6_000);
    yielding.add('b').delete('a');
    await until(() => (a.leads() ? true : undefined));
    assert.equal(b.leads(), false);
  });

  test('a leader that is cut off stops leading before another begins', async t => {
    const { cluster, proxy } = await behindProxy(t);
    const times: string[] = [];
    const cutOff = candidate(t, cluster, 'cut-off', 'other', leading =>
      times.push(`cut-off ${leading}`),
    );
    await until(() => (cutOff.leads() ? true : undefined));
    const next = candidate(t, admin, 'next', 'other', leading => times.push(`next ${leading}`));
    proxy.cut();
    await until(() => (next.leads() ? true : undefined));
    // A busy machine may lose the lease before, and win it again.
    assert.deepEqual(times.slice(-2), ['cut-off false', 'next true']);
  });

  test('a clock that is set back puts nobody off', async t => {
    const { cluster, proxy } = await behindProxy(t);
    const gone = candidate(t, cluster, 'gone', 'clock');
    await until(() => (gone.leads() ? true : undefined));
    let ahead = 0;
    let seen = 0;
    let leads = false;
    const { close } = lead({
      ...{
        cluster: admin,
        namespace: 'default',
        name: 'clock',
        holder: 'next',
        durationSeconds: 2,
      },
      onLeading: leading => {
        leads = leading;
      },
      onOther: () => {
        seen += 1;
      },
      ...{ now: () => Date.now() + ahead, after, random: Math.random },
    });
    t.after(close);
    await until(() => (seen > 0 ? true : undefined));
    proxy.cut();
    const before = seen;
    await until(() => (seen > before ? true : undefined));
    ahead = -3_600_000;
    await until(() => (leads ? true : undefined));
  });

  function candidate(
    t: TestContext,
    cluster: Cluster,
    holder: string,
    name = 'shared',
    onLeading = (_: boolean) => {},
    durationSeconds = 2,
    yields = () => false,
  ) {
    let leads = false;
    const { close } = lead({
      cluster,
      namespace: 'default',
      name,
      holder,
      onLeading(leading) {
        leads = leading;
        onLeading(leading);
      },
      yields,
      now: Date.now,
      after,
      random: Math.random,
      durationSeconds,
    });
    t.after(close);
    return { close, leads: () => leads };
  }
});

test('a kubeconfig that is missing, and a process that is in no cluster, are told in plain words', async () => {
  await assert.rejects(
    () => connectCluster({ kubeconfig: '/none' }),
    /^ClusterError: Cannot read the kubeconfig \/none: ENOENT$/,
  );
  await assert.rejects(
    () => connectCluster({ root: '/none' }),
    /This is not a container of a cluster .* Set KUBECONFIG to a kubeconfig$/,
  );
});

test('an answer that does not end is given up in time', async t => {
  const server = createServer(socket => {
    socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const kubeconfig = await writeKubeconfig(t, `http://127.0.0.1:${port}`);
  const cluster = await connectCluster({ kubeconfig, timeoutMs: 500 });
  t.after(cluster.close);
  await assert.rejects(
    () => cluster.call({ method: 'GET', path: '/version' }),
    /does not answer: it took too long$/,
  );
});

test('a server that says nothing is given up in time, also for a watch', async t => {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const kubeconfig = await writeKubeconfig(t, `https://127.0.0.1:${port}`);
  const cluster = await connectCluster({ kubeconfig, timeoutMs: 50 });
  t.after(cluster.close);
  const request = { method: 'GET', path: '/version' } as const;
  const late = /^ClusterError: The Kubernetes API at \S+ does not answer: it took too long$/;
  await assert.rejects(() => cluster.call(request), late);
  await assert.rejects(() => cluster.open(request, new AbortController().signal), late);
  const patient = await connectCluster({ kubeconfig });
  t.after(patient.close);
  await assert.rejects(() => patient.call({ ...request, timeoutMs: 50 }), late);
});

async function writeKubeconfig(t: TestContext, server: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-kubeconfig-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'kubeconfig');
  const config = {
    // The package speaks no plain HTTP without.
    clusters: [
      { name: 'a', cluster: { server, 'insecure-skip-tls-verify': server.startsWith('http:') } },
    ],
    users: [{ name: 'a', user: { token: 'token' } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

function rbac(namespace: string) {
  return { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'rolebindings', namespace };
}

/** Where a container finds the API. */
function inCluster(t: TestContext, port: number): void {
  const before = { ...process.env };
  t.after(() => {
    process.env = before;
  });
  process.env.KUBERNETES_SERVICE_HOST = '127.0.0.1';
  process.env.KUBERNETES_SERVICE_PORT = String(port);
}

const CRDS = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
const THINGS = {
  metadata: { name: 'things.test.example.org' },
  spec: {
    group: 'test.example.org',
    names: { plural: 'things', kind: 'Thing' },
    scope: 'Namespaced',
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
};
