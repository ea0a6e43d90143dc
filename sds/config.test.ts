import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { readConfig } from './config.ts';

const INSTANCES_FILE = '/etc/gateway/instances.yaml';

test('only the instances file has to be named', () => {
  assert.deepEqual(readConfig({ INSTANCES_FILE, LOG_LEVEL: '' }), {
    host: '127.0.0.1',
    port: 18003,
    instancesFiles: [INSTANCES_FILE],
    stateFolder: resolve('.gateway'),
    instancesKubernetes: undefined,
    dnsServers: [],
    dnsMaxTtlSeconds: 60,
    secrets: {
      xds: { host: '127.0.0.1', port: 18000 },
      reportTo: [],
      trustDomain: 'gateway.internal',
      leafMs: 86_400_000,
      rootMs: 43_800 * 3_600_000,
      authorityFolder: resolve('.gateway/authority'),
      acmeFolder: resolve('.gateway/acme'),
      drainedFile: resolve('.gateway/sds-drained.json'),
      authoritySecret: undefined,
      identityFolders: new Map(),
      identitySecrets: [],
      edges: undefined,
      certificateFolders: ['/etc/gateway'],
      kubeconfig: undefined,
    },
    tlsFolder: undefined,
    http: undefined,
    logLevel: 'info',
  });
});

test('served alone, instances need no secrets and secrets no instances', () => {
  assert.equal(readConfig({ SERVES: 'instances', INSTANCES_FILE }).secrets, undefined);
  assert.deepEqual(readConfig({ SERVES: 'secrets' }).instancesFiles, []);
});

test('with Kubernetes no file is needed, and * means all namespaces', () => {
  const { instancesFiles, instancesKubernetes } = readConfig({ INSTANCES_KUBERNETES: 'shop,*' });
  assert.deepEqual(instancesFiles, []);
  assert.deepEqual(instancesKubernetes, { namespaces: undefined, kubeconfig: undefined });
});

test('everything can be set', () => {
  const env = {
    INSTANCES_FILE,
    INSTANCES_KUBERNETES: 'shop, default',
    KUBECONFIG: '/etc/gateway/kubeconfig',
    ADDRESS: '[::1]:0',
    DNS_SERVERS: '10.0.0.53, [::1]:5353',
    DNS_MAX_TTL_SECONDS: '5',
    XDS_ADDRESS: 'gateway:18000',
    REPORT_ADDRESSES: 'gateways:18000',
    STATE: '/var/lib/gateway',
    TRUST_DOMAIN: 'example.org',
    CERTIFICATE_LIFETIME: '1h30m',
    ROOT_LIFETIME: '8760h',
    AUTHORITY_SECRET: 'gateway-authority',
    IDENTITY_FOLDER: '/run/identity',
    IDENTITIES: 'edge, controlplane',
    IDENTITY_SECRETS: 'edge',
    EDGES_KUBERNETES: 'shop',
    GATEWAY_ID: 'two',
    CERTIFICATE_FILES: ' /srv/a/:b:',
    TLS_FOLDER: '/run/identity/sds',
    HTTP_ADDRESS: '0.0.0.0:8080',
    LOG_LEVEL: 'debug',
  };
  assert.deepEqual(readConfig(env), {
    host: '::1',
    port: 0,
    instancesFiles: [INSTANCES_FILE],
    stateFolder: '/var/lib/gateway',
    instancesKubernetes: { namespaces: ['shop', 'default'], kubeconfig: '/etc/gateway/kubeconfig' },
    dnsServers: ['10.0.0.53', '[::1]:5353'],
    dnsMaxTtlSeconds: 5,
    secrets: {
      xds: { host: 'gateway', port: 18000 },
      reportTo: [{ host: 'gateways', port: 18000 }],
      trustDomain: 'example.org',
      leafMs: 5_400_000,
      rootMs: 8_760 * 3_600_000,
      authorityFolder: '/var/lib/gateway/authority',
      acmeFolder: '/var/lib/gateway/acme',
      drainedFile: '/var/lib/gateway/sds-drained.json',
      authoritySecret: 'gateway-authority',
      identityFolders: new Map([
        ['edge', '/run/identity/edge'],
        ['controlplane', '/run/identity/controlplane'],
      ]),
      identitySecrets: ['edge'],
      edges: { namespaces: ['shop'], name: 'gateway-edges-two' },
      certificateFolders: ['/srv/a', resolve('b')],
      kubeconfig: '/etc/gateway/kubeconfig',
    },
    tlsFolder: '/run/identity/sds',
    http: { host: '0.0.0.0', port: 8080 },
    logLevel: 'debug',
  });
});

test('several files may declare instances', () => {
  const { instancesFiles } = readConfig({ INSTANCES_FILE: '/etc/a.yaml:b.yaml:' });
  assert.deepEqual(instancesFiles, ['/etc/a.yaml', resolve('b.yaml')]);
});

const BAD: readonly [variable: string, value: string][] = [
  ['INSTANCES_FILE', ''],
  ['INSTANCES_FILE', ':'],
  ['INSTANCES_KUBERNETES', 'shop,../etc'],
  ['INSTANCES_KUBERNETES', 'Shop'],
  ['ADDRESS', '18003'],
  ['ADDRESS', '127.0.0.1:99999'],
  ['ADDRESS', '::1:80'],
  ['DNS_SERVERS', 'dns.google'],
  ['DNS_MAX_TTL_SECONDS', '0'],
  ['DNS_MAX_TTL_SECONDS', '-5'],
  ['DNS_MAX_TTL_SECONDS', '1.5'],
  ['DNS_MAX_TTL_SECONDS', '5s'],
  ['DNS_MAX_TTL_SECONDS', '86401'],
  ['SERVES', 'certificates'],
  ['HTTP_ADDRESS', '8080'],
  ['XDS_ADDRESS', '18000'],
  ['TRUST_DOMAIN', 'spiffe://example.org'],
  ['CERTIFICATE_LIFETIME', '1d'],
  ['CERTIFICATE_LIFETIME', '0s'],
  ['CERTIFICATE_LIFETIME', '721h'],
  ['ROOT_LIFETIME', '24h'],
  ['XDS_ADDRESS', 'controlplane:0'],
  ['INSTANCES_KUBERNETES', ' ,'],
  ['DNS_SERVERS', ','],
  ['IDENTITIES', ','],
  ['IDENTITY_SECRETS', ','],
  ['EDGES_KUBERNETES', 'Shop'],
  ['CERTIFICATE_FILES', ':'],
  ['AUTHORITY_SECRET', 'a/b'],
  ['IDENTITY_SECRETS', '../edge'],
  ['LOG_LEVEL', 'loud'],
];

for (const [variable, value] of BAD) {
  test(`${variable}=${value} is rejected by name`, () => {
    assert.throws(
      () => readConfig({ INSTANCES_FILE, [variable]: value }),
      new RegExp(`^Error: ${variable} (is|has)`),
    );
  });
}

test('identities want a folder to be written to, and may not leave it', () => {
  assert.throws(
    () => readConfig({ INSTANCES_FILE, IDENTITIES: 'edge' }),
    /^Error: IDENTITY_FOLDER is not set/,
  );
  assert.throws(
    () => readConfig({ INSTANCES_FILE, IDENTITY_FOLDER: '/run' }),
    /^Error: IDENTITIES is not set: want the node groups/,
  );
  const env = { INSTANCES_FILE, IDENTITY_FOLDER: '/run', IDENTITIES: '../etc' };
  assert.throws(() => readConfig(env), /^Error: IDENTITIES has "..\/etc"/);
});
