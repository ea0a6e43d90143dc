import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { stringify } from 'yaml';
import { fileAuthorityStore } from '#certificates/authority/file-authority-store.ts';
import { issueIdentity } from '#certificates/authority/leaf.ts';
import { issuerOf } from '#certificates/authority/roots.ts';
import { parseRoots } from '#certificates/authority/roots-text.ts';
import { envoyBinary } from '#envoy/binary.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';
import { identitySecret } from '#envoy/identity-tls.ts';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { LISTENER, SECRET } from '#protos/type-url.ts';
import type { Asking, Told } from './ask-discovery.ts';
import type { Asked } from './ask-on-and-on.ts';
import type { Knock } from './knock.ts';
import { makeTestHosts, type TestHost, type TestHosts, whyNoTestHosts } from './test-hosts.ts';
import { until } from './until.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TRUST_DOMAIN = 'gateway.internal';
const GROUPS = ['sds', 'controlplane', 'ext-authz', 'ratelimit-service', 'edge', 'user-service'];
const PORTS = {
  'the application proxy': 8000,
  'the control plane': 18000,
  'the authorization service': 18001,
  'the rate limit service': 18002,
  'the discovery service': 18003,
} as const;
type Place = keyof typeof PORTS;
const PLACES = Object.keys(PORTS) as Place[];
const EDGE_ONLY: readonly Place[] = [
  'the application proxy',
  'the authorization service',
  'the rate limit service',
];

const STRANGERS = [
  'nothing encrypted',
  'no certificate',
  'a certificate of a foreign authority',
  "an expired certificate of the edge's",
  "the edge's certificate by TLS 1.2",
];

const ASKED = [
  { what: 'configuration', port: 18000, typeUrl: LISTENER, names: ['*'] },
  { what: 'certificate', port: 18003, typeUrl: SECRET, names: ['gateway/identity'] },
].flatMap(asked => [
  { ...asked, identity: 'edge', group: 'edge' },
  ...['edge', 'ext-authz', 'sds', ''].map(group => ({ ...asked, identity: 'user-service', group })),
]);

const skip = whyNoTestHosts() ?? false;

/**
 * As in a cluster, nothing is on the loopback but an instance beside its proxy. The other host also
 * stands for strangers in the network.
 */
describe('on two hosts, where everybody has an identity,', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'e2e-identities-'));
  const identities = join(folder, 'identities');
  let hosts: TestHosts;
  let center: TestHost;
  let other: TestHost;
  /** Certificates that a stranger might show. */
  const shown = new Map<string, Knock['tls']>();
  const answers = new Map<string, string | null>();
  const told: Told[] = [];

  before(async () => {
    hosts = makeTestHosts();
    [center, other] = hosts.hosts;
    const { address } = center;
    mkdirSync(join(folder, 'resources'));
    writeFileSync(join(folder, 'resources', 'all.yaml'), resources());
    writeFileSync(join(folder, 'instances.yaml'), instances(other.address));
    const at = (port: number) => `${address}:${port}`;
    const tls = (group: string) => ({ TLS_FOLDER: join(identities, group) });
    startNode(center, 'sds/main.ts', {
      ...tls('sds'),
      ADDRESS: at(18003),
      XDS_ADDRESS: at(18000),
      INSTANCES_FILE: join(folder, 'instances.yaml'),
      STATE: join(folder, 'sds'),
      IDENTITY_FOLDER: identities,
      IDENTITIES: GROUPS.join(),
    });
    startNode(center, 'controlplane/main.ts', {
      ...tls('controlplane'),
      RESOURCES: join(folder, 'resources'),
      STATE: join(folder, 'controlplane'),
      XDS_ADDRESS: at(18000),
      EDGE_ADDRESS: at(8080),
      SDS_ADDRESS: at(18003),
      EXT_AUTHZ_ADDRESS: at(18001),
      RATELIMIT_ADDRESS: at(18002),
      HOP_TLS: 'true',
    });
    startNode(center, 'ext-authz/main.ts', {
      ...tls('ext-authz'),
      ADDRESS: at(18001),
      XDS_ADDRESS: at(18000),
      STATE: join(folder, 'ext-authz'),
      WORKERS: '2',
      HTTP_ADDRESS: '127.0.0.1:8091',
    });
    startNode(center, 'ratelimit-service/main.ts', {
      ...tls('ratelimit-service'),
      ADDRESS: at(18002),
      XDS_ADDRESS: at(18000),
      HTTP_ADDRESS: '127.0.0.1:8092',
    });
    startInstance(other, 'other');
    await until(() => GROUPS.every(hasIdentity) || undefined, 90_000, 'identities');
    await startEnvoy(other, 'user-service');
    await startEnvoy(center, 'edge');
    await until(
      async () => ((await throughEdge()) === 'HTTP/1.1 200' ? true : undefined),
      90_000,
    ).catch(error => assert.fail(`${error}\n${hosts.log()}`));
    // All workers of a service are ready some time after the first one answers. The edge also
    // answers without limits.
    for (const port of [8091, 8092])
      await until(async () => (await isReady(port)) || undefined, 90_000, `${port} is ready`);
    await prepareStrangers();
    await Promise.all([knockEverywhere(), askAll()]);
  });
  after(async () => {
    await hosts.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  function startNode(host: TestHost, main: string, env: Readonly<Record<string, string>>): void {
    host.spawn(process.execPath, [join(ROOT, main)], env);
  }

  function startInstance(host: TestHost, name: string): void {
    startNode(host, 'user-service/main.ts', {
      HOST: '127.0.0.1',
      PORT: '5000',
      DATABASE_FILE: join(folder, `${name}.sqlite`),
      INSTANCE_NAME: name,
    });
  }

  function hasIdentity(group: string): boolean {
    try {
      return readFileSync(join(identities, group, 'ca.crt'), 'utf8') !== '';
    } catch {
      return false;
    }
  }

  async function startEnvoy(host: TestHost, group: string, nodeId = group): Promise<void> {
    const own = join(folder, `${nodeId}-envoy`);
    const tlsFolder = join(identities, group);
    mkdirSync(own);
    for (const name of ['identity', 'roots'] as const)
      writeFileSync(join(own, `${name}.yaml`), toEnvoyYaml(identitySecret(name, tlsFolder)));
    const json = bootstrap({
      nodeId,
      group,
      xdsAddress: `${center.address}:18000`,
      sdsAddress: `${center.address}:18003`,
      identity: { tlsFolder, secretsFolder: own, trustDomain: TRUST_DOMAIN },
    });
    writeFileSync(join(own, 'bootstrap.yaml'), toEnvoyYaml(json));
    const args = ['-c', join(own, 'bootstrap.yaml'), '--disable-hot-restart', '--concurrency', '1'];
    host.spawn(await envoyBinary(), [...args, '-l', 'warn']);
  }

  async function prepareStrangers(): Promise<void> {
    const { text = '' } = (await fileAuthorityStore(join(folder, 'sds', 'authority')).read()) ?? {};
    const read = parseRoots(text);
    assert.ok('roots' in read);
    const root = issuerOf(read.roots, Date.now());
    assert.ok(root !== undefined);
    const ca = readFileSync(join(identities, 'edge', 'ca.crt'), 'utf8');
    const issue = async (group: string, now = Date.now()) => {
      const lifetime = { now, lifetimeMs: 3_600_000 };
      const { certificate, key } = await issueIdentity(
        root,
        { trustDomain: TRUST_DOMAIN, group },
        lifetime,
      );
      return { ca, cert: certificate, key };
    };
    const foreign = await (await testAuthority()).issue(`spiffe://${TRUST_DOMAIN}/group/edge`);
    shown
      .set('nothing encrypted', undefined)
      .set('no certificate', { ca })
      .set('a certificate of a foreign authority', {
        ca,
        cert: foreign.certificate,
        key: foreign.key,
      })
      .set("an expired certificate of the edge's", await issue('edge', Date.now() - 7_200_000))
      .set("the edge's certificate by TLS 1.2", { ...(await issue('edge')), maxVersion: 'TLSv1.2' })
      .set("another service's certificate", await issue('orders'))
      .set("the edge's certificate", await issue('edge'));
  }

  /**
   * Sends requests from the other host, and records the results by place and by the certificate
   * shown.
   */
  async function knockEverywhere(): Promise<void> {
    const all = PLACES.flatMap(place => [...shown].map(([what, tls]) => ({ place, what, tls })));
    const attempts: readonly Knock[] = all.map(({ place, tls }) => ({
      host: place === 'the application proxy' ? other.address : center.address,
      port: PORTS[place],
      ...(tls === undefined ? {} : { tls }),
    }));
    const heard = await run<(string | null)[]>(other, 'knock.ts', attempts);
    for (const [at, { place, what }] of all.entries())
      answers.set(`${place} ${what}`, heard[at] ?? null);
  }

  const answered = (place: Place, what: string) => answers.get(`${place} ${what}`);

  const isReady = async (port: number) =>
    (await atCenter('127.0.0.1', port, '/readyz')) === 'HTTP/1.1 200';

  const throughEdge = (path = '/user/health') => atCenter(center.address, 8080, path);

  async function atCenter(host: string, port: number, path: string): Promise<string | null> {
    const attempt: Knock = { host, port, path };
    return (await run<(string | null)[]>(center, 'knock.ts', [attempt]))[0] ?? null;
  }

  async function run<T>(host: TestHost, script: string, argument: object): Promise<T> {
    const args = [join(import.meta.dirname, script), JSON.stringify(argument)];
    return JSON.parse(await host.run(process.execPath, args)) as T;
  }

  /** Sends requests with the identity of `identity`, which calls itself `group`. */
  async function askAll(): Promise<void> {
    const all: readonly Asking[] = ASKED.map(({ port, identity, ...asking }) => ({
      ...asking,
      address: `${center.address}:${port}`,
      folder: join(identities, identity),
    }));
    told.push(...(await run<Told[]>(other, 'ask-discovery.ts', all)));
  }

  test('the edge answers by the instance', async () => {
    assert.equal(await throughEdge(), 'HTTP/1.1 200');
  });

  // Without the service the answer would be 503.
  test('the edge asks the authorization service by mutual TLS', async () => {
    assert.equal(await throughEdge('/user/token'), 'HTTP/1.1 401');
  });

  test('the edge asks the rate limit service by mutual TLS', async () => {
    const get =
      "fetch('http://127.0.0.1:8092/metrics').then(async answer => console.log(await answer.text()))";
    await until(
      async () => {
        await throughEdge();
        const metrics = await center.run(process.execPath, ['-e', get]);
        return /gateway_ratelimit_answers_total\{code="OK"\} [1-9]/.test(metrics) || undefined;
      },
      30_000,
      'a request was counted',
    );
  });

  test('probes are answered in plain text on a port of their own', async () => {
    for (const port of [8091, 8092]) assert.ok(await isReady(port), `${port}`);
  });

  for (const place of PLACES) {
    test(`${place} answers a client with the edge's certificate`, () => {
      assert.match(answered(place, "the edge's certificate") ?? '', /^HTTP\/1\.1 (200|404)$/);
    });

    for (const what of STRANGERS) {
      test(`${place} does not answer a client with ${what}`, () => {
        assert.equal(answered(place, what), null);
      });
    }
  }

  for (const place of EDGE_ONLY) {
    test(`${place} does not answer a client with another service's certificate`, () => {
      assert.equal(answered(place, "another service's certificate"), null);
    });
  }

  for (const [at, { what, identity, group }] of ASKED.entries()) {
    test(`who has the identity of ${identity} and calls itself ${group || 'nothing'} gets ${identity === group ? 'its' : 'no'} ${what}`, () => {
      const { names, code } = told[at] ?? {};
      if (identity === group) assert.equal(names?.length, 1);
      else assert.deepEqual([names, code], [undefined, status.PERMISSION_DENIED]);
    });
  }

  // This is the last test, because the other host is gone after it.
  test('no request is lost that may be repeated when a machine vanishes with its instance and proxy', async t => {
    startInstance(center, 'center');
    await startEnvoy(center, 'user-service', 'user-service-center');
    writeFileSync(join(folder, 'instances.yaml'), instances(center.address, other.address));
    const url = `http://${center.address}:8080/user/health`;
    const before = () => run<Asked>(center, 'ask-on-and-on.ts', { url, forMs: 200 });
    await until(
      async () => Object.keys((await before()).hostnames).length === 2 || undefined,
      60_000,
    );
    const asking = run<Asked>(center, 'ask-on-and-on.ts', { url, forMs: 6_000 });
    await before();
    other.unplug();
    const { answers, hostnames } = await asking;
    t.diagnostic(JSON.stringify({ answers, hostnames }));
    assert.deepEqual(Object.keys(answers), ['200']);
    assert.deepEqual(Object.keys((await before()).hostnames), ['center']);
  });
});

function resources(): string {
  const mapping = {
    prefix: '/user',
    rewrite: '',
    service: 'user-service',
    resolver: 'sds',
    timeout_ms: 0,
  };
  const proxy = {
    node_group: 'user-service',
    listener: { address: '0.0.0.0', port: 8000 },
    virtual_hosts: [
      { name: 'all', domains: ['*'], routes: [{ prefix: '/', cluster: 'instance' }] },
    ],
    clusters: [{ name: 'instance', type: 'static', hosts: [{ url: 'tcp://127.0.0.1:5000' }] }],
  };
  const labelled = { ...mapping, labels: { gateway: [{ all: ['users'] }] } };
  const limit = {
    domain: 'gateway',
    limits: [{ pattern: [{ generic_key: 'users' }], rate: 1_000, unit: 'second' }],
  };
  return [
    ['Mapping', labelled],
    ['ProxyConfig', proxy],
    ['RateLimit', limit],
    ['Filter', { JWT: { jwksURI: 'http://127.0.0.1:1/jwks', insecureTLS: false } }],
    [
      'FilterPolicy',
      { rules: [{ host: '*', path: '/user/token', filters: [{ name: 'user-service' }] }] },
    ],
  ]
    .map(([kind, spec]) =>
      stringify({
        apiVersion: 'gateway.internal/v2',
        kind,
        metadata: { name: 'user-service' },
        spec,
      }),
    )
    .join('---\n');
}

function instances(...addresses: readonly string[]): string {
  return stringify({
    services: { 'user-service': addresses.map(address => ({ address, port: 8000 })) },
  });
}
