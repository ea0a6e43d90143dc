import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type ApiReader, readFrom } from '#controlplane/testing/api-reader.ts';
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
} from '#kubernetes/testing/service-account.ts';
import { patchObject } from '#kubernetes/write.ts';
import { after as callAfter } from '#process/after.ts';
import {
  applyDefinition,
  applyDefinitions,
  collectionOf,
  create,
  type Document,
  patch,
  remove,
  removeDefinition,
} from '#resources/kubernetes/testing/objects.ts';
import { Parser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { type Reading, watchResources } from '../resource-sources.ts';

function mapping(name: string, more: object = {}, namespace = 'default'): Document {
  const spec = { prefix: `/${name}/`, service: name, ...more };
  return {
    apiVersion: 'gateway.internal/v2',
    kind: 'Mapping',
    metadata: { name, namespace },
    spec,
  };
}

const filter = (name: string, secretName: string, namespace = 'default'): Document => ({
  apiVersion: 'gateway.internal/v2',
  kind: 'Filter',
  metadata: { name, namespace },
  spec: {
    OAuth2: {
      authorizationURL: 'https://idp',
      clientID: 'me',
      secretName,
      protectedOrigins: [{ origin: 'https://a' }],
    },
  },
});

const secret = (name: string, value: string, namespace = 'default'): Document => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  data: { 'oauth2-client-secret': Buffer.from(value).toString('base64') },
});

/** Not the thousand. */
const OURS = { namespaces: ['default', 'shop'] };

const idsOf = ({ written }: Reading) => [...written.resources.keys()];
const has = (id: string) => (reading: Reading) => reading.written.resources.has(id);
const lacks = (id: string) => (reading: Reading) => !reading.written.resources.has(id);
const messages = ({ problems }: Reading) => problems.map(({ message }) => message);

describe('resources in Kubernetes', { skip: whyNoKubeApiserver() ?? false }, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
    for (const namespace of ['shop', 'many', 'closed']) await makeNamespace(api.admin, namespace);
  });
  after(() => api?.remove());

  async function reader(
    t: TestContext,
    ...[options]: Parameters<typeof readFrom> extends [string, ...infer R] ? R : never
  ) {
    const started = await readFrom(api.kubeconfig, options);
    t.after(() => started.close());
    return started;
  }

  async function created(t: TestContext, ...documents: readonly Document[]): Promise<void> {
    for (const document of documents) {
      const written = await create(api.admin, document);
      assert.equal(written.kind, 'written', JSON.stringify(written));
      t.after(() => remove(api.admin, document));
    }
  }

  test('kinds that the cluster does not know yet are a problem, and are read as soon as it knows them', async t => {
    const read = await reader(t);
    const first = await read.readingWhen(() => true);
    assert.match(
      messages(first).join(),
      /^the cluster has no definition of Filter, .*\. Apply deploy\/kubernetes\/crds.yaml$/,
    );
    await applyDefinitions(api.admin);
    await created(t, mapping('late'));
    const second = await read.readingWhen(has('Mapping/default/late'));
    assert.deepEqual(
      (await read.readingWhen(({ problems }) => problems.length === 0)).written,
      second.written,
    );
  });

  test('a kind that is not served is read as soon as the cluster has it, and its object is rejected', async t => {
    t.after(() =>
      Promise.all(['authservices', 'wombats'].map(each => removeDefinition(api.admin, each))),
    );
    await applyDefinition(api.admin, {
      kind: 'AuthService',
      plural: 'authservices',
      version: 'v3alpha1',
    });
    await applyDefinition(api.admin, { kind: 'Wombat', plural: 'wombats', version: 'v2' });
    const spec = { auth_service: 'auth:3000' };
    const metadata = { name: 'auth', namespace: 'shop' };
    const document = {
      apiVersion: 'gateway.internal/v3alpha1',
      kind: 'AuthService',
      metadata,
      spec,
    };
    await created(t, document);
    const read = await reader(t);
    const isThere = ({ written }: Reading) => written.rejected.has('AuthService/shop/auth');
    const reading = await read.readingWhen(isThere);
    assert.equal(
      reading.written.rejected.get('AuthService/shop/auth')?.unserved?.[0]?.name,
      'AuthService',
    );
    const said = messages(reading).join();
    assert.match(said, /AuthService is not served/);
    assert.match(said, /kinds that the gateway does not know: Wombat/);
    assert.deepEqual(reading.objects.map(({ name }) => name).includes('auth'), false);
    await remove(api.admin, document);
    await read.readingWhen(reading => !isThere(reading));
  });

  test('an edit, a rename and a deletion are read, and another gateway is left alone', async t => {
    await created(t, mapping('one'), mapping('foreign', { gateway_id: 'other' }));
    const read = await reader(t);
    const first = await read.readingWhen(has('Mapping/default/one'));
    assert.deepEqual(idsOf(first), ['Mapping/default/one']);
    await patch(api.admin, mapping('one'), { spec: { prefix: '/other/' } });
    await read.readingWhen(({ written }) => {
      const resource = written.resources.get('Mapping/default/one');
      return resource?.kind === 'Mapping' && resource.spec.prefix === '/other/';
    });
    await patch(api.admin, mapping('foreign'), { spec: { gateway_id: 'default' } });
    await read.readingWhen(has('Mapping/default/foreign'));
    await remove(api.admin, mapping('one'));
    assert.deepEqual(idsOf(await read.readingWhen(lacks('Mapping/default/one'))), [
      'Mapping/default/foreign',
    ]);
  });

  test('a mistake is a problem that names the object and its field', async t => {
    await created(t, mapping('wrong', { prefix: 'no-slash', timeout: 1 }));
    const read = await reader(t);
    const { problems, written } = await read.readingWhen(({ problems }) => problems.length > 1);
    const { message: _, ...problem } = problems.find(({ severity }) => severity === 'error') ?? {
      message: '',
    };
    assert.deepEqual(problem, {
      severity: 'error',
      kind: 'Mapping',
      namespace: 'default',
      name: 'wrong',
      file: 'Kubernetes mappings.gateway.internal',
      line: 0,
      field: 'spec.prefix',
    });
    assert.deepEqual([...written.rejected.keys()], ['Mapping/default/wrong']);
  });

  test('of a thousand Mappings only the edited one is parsed again, and a status is no edit', async t => {
    const documents = Array.from({ length: 1_000 }, (_, at) => mapping(`m-${at}`, {}, 'many'));
    await inTurns(20, documents, document => create(api.admin, document));
    const read = await reader(t, { namespaces: ['many'] });
    const before = await read.readingWhen(({ written }) => written.resources.size === 1_000);
    const count = read.readings.length;
    await patch(api.admin, mapping('m-7', {}, 'many'), { spec: { service: 'other' } });
    const next = await read.readingWhen(reading => reading !== before);
    const parsed = [...next.written.resources].filter(
      ([id, resource]) => before.written.resources.get(id) !== resource,
    );
    assert.deepEqual(
      parsed.map(([id]) => id),
      ['Mapping/many/m-7'],
    );
    assert.equal(read.readings.length, count + 1);
    const target = {
      cluster: api.admin,
      resource: collectionOf(mapping('m-8', {}, 'many')),
      part: 'status',
    } as const;
    const problems = [{ severity: 'warning', message: 'said' }];
    assert.equal((await patchObject(target, 'm-8', { status: { problems } })).kind, 'written');
    while (read.statuses() === 0) await new Promise(resolve => setTimeout(resolve, 5));
    assert.equal(read.readings.at(-1), next);
    const said = read.objects().find(({ name }) => name === 'm-8')?.status;
    assert.deepEqual(said, { problems });
  });

  describe('Secrets', () => {
    test('are read by the names that resources give, those of what is in force too, and no longer than that', async t => {
      await created(
        t,
        secret('login', 'one'),
        secret('former', 'two'),
        secret('nobody', 'three'),
        filter('f', 'login'),
      );
      const read = await reader(t, OURS);
      const first = await read.readingWhen(() => true);
      assert.deepEqual(
        idsOf(first),
        ['Filter/default/f', 'Secret/default/login'],
        'the first reading has it already',
      );
      const before = [...first.written.resources.values()];
      await patch(api.admin, filter('f', ''), { spec: { OAuth2: { secretName: 'former' } } });
      read.inForce = before;
      const both = await read.readingWhen(has('Secret/default/former'));
      assert.ok(has('Secret/default/login')(both), 'proxies still go by it');
      read.inForce = [];
      await read.readingWhen(lacks('Secret/default/login'));
      const asked = new Set(read.asked.filter(path => path.includes('secrets')));
      const path = '/api/v1/namespaces/default/secrets metadata.name=';
      assert.deepEqual([...asked].sort(), [`${path}former`, `${path}login`]);
    });

    test('change and go', async t => {
      await created(t, secret('key', 'one'), filter('g', 'key'));
      const read = await reader(t, OURS);
      const first = await read.readingWhen(has('Secret/default/key'));
      const hash = (reading: Reading) => reading.written.resources.get('Secret/default/key')?.hash;
      await patch(api.admin, secret('key', ''), { data: secret('key', 'two').data });
      await read.readingWhen(reading => hash(reading) !== hash(first));
      await remove(api.admin, secret('key', ''));
      await read.readingWhen(lacks('Secret/default/key'));
    });

    test('of the folder are not asked for', async t => {
      const folder = mkdtempSync(join(tmpdir(), 'sources-'));
      t.after(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, 'a.json'), JSON.stringify(secret('login', 'folder')));
      await created(t, secret('login', 'api'), filter('h', 'login'), mapping('same'));
      writeFileSync(join(folder, 'b.json'), JSON.stringify(mapping('same', { service: 'folder' })));
      const read = await reader(t, { ...OURS, folders: [folder] });
      const reading = await read.readingWhen(() => true);
      assert.deepEqual(
        read.asked.filter(path => path.includes('secrets')),
        [],
      );
      const same = reading.written.resources.get('Mapping/default/same');
      assert.equal(same?.kind === 'Mapping' && same.spec.service.host, 'folder.default');
      assert.match(
        messages(reading).join(),
        /^Mapping default\/same is already at .*b\.json:1, which counts/,
      );
    });

    test('of other namespaces than are read, and such as may not be read, are problems', async t => {
      await created(t, secret('there', 'x', 'shop'), filter('i', 'there', 'closed'));
      await patch(api.admin, filter('i', '', 'closed'), {
        spec: { OAuth2: { secretNamespace: 'shop' } },
      });
      const elsewhere = await (await reader(t, { namespaces: ['closed'] })).readingWhen(() => true);
      assert.match(
        messages(elsewhere).join(),
        /^The Secret shop\/there is not read: RESOURCES_KUBERNETES/,
      );
      await patch(api.admin, filter('i', '', 'closed'), {
        spec: { OAuth2: { secretNamespace: null } },
      });
      const account = { namespace: 'closed', name: 'reader' };
      await makeServiceAccount(api.admin, account, [
        { apiGroups: ['gateway.internal'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
      ]);
      const token = await issueToken(api.admin, 'closed', 'reader');
      const read = await readFrom(await api.writeKubeconfig('reader', token), {
        namespaces: ['closed'],
      });
      t.after(() => read.close());
      const rejected = await read.readingWhen(has('Filter/closed/i'));
      assert.match(
        messages(rejected).join(),
        /refuses to list secrets in namespace "closed": 403 .*\. Otherwise grant it by a Role/,
      );
    });
  });

  test('an API that is away: what is known stays in force, and a start waits and says why', async t => {
    const wire = await startCutProxy(api.port);
    t.after(() => wire.close());
    const kubeconfig = await api.writeKubeconfig(
      'wire',
      'admin-token',
      `https://127.0.0.1:${wire.port}`,
    );
    await created(t, mapping('stays'));
    const read = await readFrom(kubeconfig, OURS);
    t.after(() => read.close());
    await read.readingWhen(has('Mapping/default/stays'));
    wire.cut();
    const away = await read.readingWhen(({ problems }) => problems.length > 0);
    assert.ok(has('Mapping/default/stays')(away));
    assert.match(
      messages(away).join(),
      /^The Kubernetes API at https:\S+ does not answer: .*\. What is known stays in force/,
    );
    const late = await readFrom(kubeconfig, OURS);
    t.after(() => late.close());
    await untilWaiting(late, /does not answer/);
    await untilTold(late, /does not answer/);
    assert.equal(late.readings.length, 0);
    await created(t, mapping('new'));
    wire.mend();
    await late.readingWhen(has('Mapping/default/stays'));
    assert.equal(late.waiting(), undefined);
    assert.deepEqual(read.troubles, []);
    assert.ok(has('Mapping/default/stays')(await read.readingWhen(has('Mapping/default/new'))));
    assert.deepEqual(messages(await read.readingWhen(({ problems }) => problems.length === 0)), []);
  });
});

test('until what is much in folders is parsed it says so', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'sources-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, 'a.yaml'),
    `${'# much\n'.repeat(10_000)}${JSON.stringify(mapping('a'))}`,
  );
  const { promise: first, resolve: onChange } = Promise.withResolvers<Reading>();
  const sources = watchResources({
    folders: [folder],
    from: '/',
    parser: new Parser(DEFAULT_PARSE_OPTIONS),
    inForce: () => [],
    onChange,
    after: callAfter,
    random: Math.random,
  });
  t.after(() => sources.close());
  assert.equal(sources.waiting(), 'the resources in the folders are being parsed');
  assert.deepEqual(idsOf(await first), ['Mapping/default/a']);
  assert.equal(sources.waiting(), undefined);
});

/** This many at a time, since each has a connection. */
async function inTurns<T>(
  count: number,
  items: readonly T[],
  run: (item: T) => Promise<unknown>,
): Promise<void> {
  const rest = items.values();
  const turn = async () => {
    for (const item of rest) await run(item);
  };
  await Promise.all(Array.from({ length: count }, turn));
}

async function untilWaiting(read: ApiReader, reason: RegExp): Promise<void> {
  while (!reason.test(read.waiting() ?? '')) await new Promise(resolve => setTimeout(resolve, 5));
}

async function untilTold(read: ApiReader, trouble: RegExp): Promise<void> {
  while (!trouble.test(read.troubles.join())) await new Promise(resolve => setTimeout(resolve, 5));
}
