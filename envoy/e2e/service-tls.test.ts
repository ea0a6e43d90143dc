import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type TestAuthority, testAuthority } from '#grpc/testing/test-authority.ts';
import { startLoad } from './load.ts';
import { getJson, request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { base64, type Pair, secret } from './tls-site.ts';
import { type SeenPeer, startTlsUpstream, type TlsUpstream } from './tls-upstream.ts';
import { until } from './until.ts';

/** Without a byte a file would keep what it had. */
const NOTHING = '# nothing\n';

const NAME = 'shop.internal';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: getambassador.io/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;
const context = (name: string, spec: string) => document('TLSContext', name, spec);
const mapping = (name: string, spec: string) =>
  document('Mapping', name, `prefix: /${name}, ${spec}`);

const serialOf = ({ certificate }: Pick<Pair, 'certificate'>) =>
  new X509Certificate(certificate).serialNumber;

describe('services that want TLS and a client certificate:', () => {
  let services: TestAuthority;
  let former: TestAuthority;
  let clients: TestAuthority;
  let client: Pair;
  let upstream: TlsUpstream;
  let system: System;

  /** Returns the certificate of the service, which accepts clients of `clients`. */
  const serverPair = async () => ({
    ...(await services.issue([NAME, 'localhost'])),
    ca: clients.ca,
  });
  /** Returns the Secret with the gateway's client certificate. */
  const clientSecret = (pair: Pair, ca = services.ca) => secret('client', { ...pair, ca });

  before(async () => {
    [services, clients] = await Promise.all([testAuthority(), testAuthority()]);
    client = await clients.issue('gateway');
    upstream = await startTlsUpstream('upstream', await serverPair());
    const foreign = await testAuthority();
    const at = `service: '127.0.0.1:${upstream.port}'`;
    system = await startSystem({
      resources: {
        'client.yaml': clientSecret(client),
        'foreign.yaml': secret('foreign', { ...(await foreign.issue('gateway')), ca: foreign.ca }),
        'contexts.yaml': [
          context('mutual', `secret: client, ca_secret: client, sni: ${NAME}`),
          context('unnamed', 'secret: client, ca_secret: client'),
          context('other-name', 'secret: client, ca_secret: client, sni: other.internal'),
          context('foreign-ca', `secret: client, ca_secret: foreign, sni: ${NAME}`),
          context('foreign-client', `secret: foreign, ca_secret: client, sni: ${NAME}`),
          context('no-client', `ca_secret: client, sni: ${NAME}`),
          context('no-ca', `secret: client, sni: ${NAME}`),
          context('old', `secret: client, ca_secret: client, sni: ${NAME}, max_tls_version: v1.2`),
        ].join(''),
        'mappings.yaml': [
          mapping('mutual', `${at}, tls: mutual`),
          mapping('scheme', `service: 'https://localhost:${upstream.port}', tls: unnamed`),
          mapping('grpc', `${at}, tls: mutual, grpc: true, host_rewrite: elsewhere.example`),
          mapping('old', `${at}, tls: old`),
          mapping('of-proxy', `${at}, tls: mutual, node_group: user-service-1`),
          mapping('through-proxy', 'service: user-service, resolver: sds, rewrite: /of-proxy'),
          mapping(
            'around-proxy',
            'service: user-service, resolver: sds, rewrite: /of-proxy, tls: mutual',
          ),
          mapping('anew', `${at}, tls: mutual, cluster_max_connection_lifetime_ms: 1`),
          ...['other-name', 'foreign-ca', 'foreign-client', 'no-client', 'no-ca', 'missing'].map(
            name => mapping(name, `${at}, tls: ${name}`),
          ),
          mapping('system-ca', `service: 'localhost:${upstream.port}', tls: true`),
          mapping('in-plain-text', at),
        ].join(''),
      },
    });
    await until(async () => (await statusOf('/mutual')) === 200 || undefined);
  });
  after(async () => {
    await system?.stop();
    await upstream?.close();
  });

  const statusOf = async (path: string) => (await request(system.edge, path)).status;
  const seen = (path: string) => getJson<SeenPeer>(system.edge, path);

  test('a service gets the certificate of the TLSContext, by the name and the versions that it says', async () => {
    const peer = { hostname: 'upstream', serial: serialOf(client), sni: NAME };
    assert.deepEqual(await seen('/mutual'), { ...peer, version: 'TLSv1.3', httpVersion: '1.1' });
    assert.deepEqual(await seen('/old'), { ...peer, version: 'TLSv1.2', httpVersion: '1.1' });
    assert.deepEqual(await seen('/grpc'), { ...peer, version: 'TLSv1.3', httpVersion: '2.0' });
    const named = { ...peer, sni: 'localhost', version: 'TLSv1.3', httpVersion: '1.1' };
    assert.deepEqual(await seen('/scheme'), named);
  });

  test('the proxy beside an instance asks its services so too, and is asked by the TLS of the gateway alone', async () => {
    await until(async () => (await statusOf('/through-proxy')) === 200 || undefined);
    assert.equal((await seen('/through-proxy')).serial, serialOf(client));
    assert.equal(await statusOf('/around-proxy'), 503);
  });

  for (const [path, status] of [
    ['other-name', 503],
    ['foreign-ca', 503],
    ['foreign-client', 503],
    ['no-client', 503],
    ['no-ca', 503],
    ['system-ca', 503],
    ['missing', 500],
    ['in-plain-text', 503],
  ] as const) {
    test(`/${path} is answered ${status}, and the service is not asked`, async () => {
      const before = upstream.requests();
      assert.equal(await statusOf(`/${path}`), status);
      assert.equal(upstream.requests(), before);
    });
  }

  test('its Problems are reported for the Mapping and the TLSContext, with file and line', async () => {
    system.write(
      'broken.yaml',
      mapping('broken', 'service: x, tls: broken') + context('broken', 'secret: nowhere'),
    );
    const { problems } = await system.statusWhen(({ problems }) =>
      problems.some(({ name }) => name === 'broken'),
    );
    const told = problems
      .filter(({ name }) => name === 'broken')
      .map(
        ({ field, file, kind, line, message }) =>
          `${file.split('/').at(-1)}:${line} ${kind} ${field}: ${message}`,
      );
    assert.deepEqual(told, [
      'broken.yaml:5 Mapping spec.tls: the TLSContext default/broken names a Secret that cannot be used: the Mapping answers 500 until that is fixed',
      'broken.yaml:10 TLSContext spec.secret: there is no Secret default/nowhere in force: Mappings that name the TLSContext in `tls` answer 500 until that is fixed',
    ]);
    await until(async () => (await statusOf('/broken')) === 500 || undefined);
    system.write('broken.yaml', NOTHING);
  });

  /** Returns the client's certificate on a new connection. */
  const shown = async () => (await seen('/anew')).serial;

  test('certificates and authorities are renewed without a lost request, and no cluster changes', async t => {
    const clusters = await clusterCounters(system);
    const load = startLoad({ base: system.edge, path: '/mutual' });
    await load.more(50);
    const [nextServices, nextClients] = await Promise.all([testAuthority(), testAuthority()]);
    const next = await nextClients.issue('gateway');
    upstream.change({
      ...(await services.issue([NAME, 'localhost'])),
      ca: `${clients.ca}\n${nextClients.ca}`,
    });
    system.write('client.yaml', clientSecret(next, `${services.ca}\n${nextServices.ca}`));
    await until(async () => (await shown()) === serialOf(next) || undefined);
    upstream.change({ ...(await nextServices.issue([NAME, 'localhost'])), ca: nextClients.ca });
    assert.equal(await shown(), serialOf(next));
    await load.more(100);
    const { failures, requests } = await load.stop();
    t.diagnostic(`${requests} requests`);
    assert.deepEqual(failures.slice(0, 5), []);
    assert.deepEqual(await clusterCounters(system), clusters);
    former = services;
    [client, clients, services] = [next, nextClients, nextServices];
  });

  test('a service whose authority is not trusted any more gets no requests', async () => {
    system.write('client.yaml', clientSecret(client));
    upstream.change({ ...(await former.issue([NAME, 'localhost'])), ca: clients.ca });
    await until(async () => (await statusOf('/anew')) === 503 || undefined);
    const before = upstream.requests();
    assert.equal(await statusOf('/anew'), 503);
    assert.equal(upstream.requests(), before);
    upstream.change(await serverPair());
    assert.equal(await shown(), serialOf(client));
  });

  test('other Secrets of a TLSContext, and another TLSContext, lose no request', async t => {
    const other = await clients.issue('gateway');
    const site = (used: string, tls: string) =>
      secret('other', { ...other, ca: services.ca }) +
      context('first', `secret: ${used}, ca_secret: ${used}, sni: ${NAME}`) +
      context('second', `secret: client, ca_secret: client, sni: ${NAME}`) +
      mapping(
        'switched',
        `service: '127.0.0.1:${upstream.port}', tls: ${tls}, cluster_max_connection_lifetime_ms: 50`,
      );
    const shows = (pair: Pair) =>
      until(
        async () =>
          ((await statusOf('/switched')) === 200 &&
            (await seen('/switched')).serial === serialOf(pair)) ||
          undefined,
      );
    system.write('switched.yaml', site('client', 'first'));
    await shows(client);
    const load = startLoad({ base: system.edge, path: '/switched' });
    for (const [used, tls, pair] of [
      ['other', 'first', other],
      ['other', 'second', client],
      ['other', 'first', other],
      ['client', 'first', client],
    ] as const) {
      system.write('switched.yaml', site(used, tls));
      await shows(pair);
      await load.more(20);
    }
    const { failures, requests } = await load.stop();
    t.diagnostic(`${requests} requests`);
    assert.deepEqual(failures.slice(0, 5), []);
    system.write('switched.yaml', NOTHING);
  });

  test('a key that does not fit is a Problem, and the pair before stays, also after restarts', async () => {
    const other = await clients.issue('gateway');
    system.write('client.yaml', clientSecret({ ...other, key: client.key }));
    const { resources } = await system.statusWhen(({ problems }) =>
      problems.some(({ kind, message }) => kind === 'Secret' && message.includes('does not fit')),
    );
    assert.equal(resources.find(({ id }) => id === 'Secret/default/client')?.state, 'last good');
    assert.equal(await shown(), serialOf(client));
    await system.kill('controlplane');
    await system.statusWhen(
      ({ proxies, ready }) => ready && proxies.some(({ group }) => group === 'edge'),
    );
    assert.equal(await shown(), serialOf(client));
    system.write('client.yaml', clientSecret(other));
    await until(async () => (await shown()) === serialOf(other) || undefined);
    client = other;
  });

  test('a Secret that goes away closes the Mappings, and opens them when it is back', async () => {
    system.write('client.yaml', NOTHING);
    await until(async () => (await statusOf('/mutual')) === 500 || undefined);
    const before = upstream.requests();
    assert.deepEqual([await statusOf('/anew'), await statusOf('/grpc')], [500, 500]);
    assert.equal(upstream.requests(), before);
    system.write('client.yaml', clientSecret(client));
    await until(async () => (await statusOf('/anew')) === 200 || undefined);
  });

  test('a TLSContext that comes opens the Mapping, and one that goes closes it', async () => {
    system.write(
      'missing.yaml',
      context('missing', `secret: client, ca_secret: client, sni: ${NAME}`),
    );
    await until(async () => (await statusOf('/missing')) === 200 || undefined);
    system.write('missing.yaml', context('missing', 'secret: 5'));
    await system.statusWhen(({ problems }) =>
      problems.some(({ kind, name }) => kind === 'TLSContext' && name === 'missing'),
    );
    assert.equal(await statusOf('/missing'), 200, 'its last good version is in force');
    system.write('missing.yaml', NOTHING);
    await until(async () => (await statusOf('/missing')) === 500 || undefined);
  });

  test('keys are in no dump of the configuration', async () => {
    const admin = `http://127.0.0.1:${system.ports.edgeAdmin}`;
    const { body } = await request(admin, '/config_dump?include_eds');
    assert.match(body, /key-pair\/default\/client/);
    assert.doesNotMatch(body, /PRIVATE KEY/);
    assert.doesNotMatch(body, new RegExp(base64(client.key).slice(64, 128)));
  });
});

async function clusterCounters({ ports }: System): Promise<string> {
  const admin = `http://127.0.0.1:${ports.edgeAdmin}`;
  return (await request(admin, '/stats?filter=^cluster_manager.cluster_(added|modified|removed)$'))
    .body;
}
