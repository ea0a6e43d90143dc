import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from '#protos/encode.ts';
import { type BootstrapOptions, bootstrap } from '../bootstrap.ts';
import { startEnvoy } from './envoy-process.ts';
import { until } from './until.ts';
import { validate } from './validate.ts';

const OPTIONS: BootstrapOptions = {
  nodeId: 'edge-1',
  group: 'edge',
  xdsAddress: '127.0.0.1:18000',
  sdsAddress: '127.0.0.1:18003',
};

const FORMS: readonly { name: string; options: Partial<BootstrapOptions> }[] = [
  { name: 'IPv4 addresses', options: { adminAddress: '127.0.0.1:9901' } },
  { name: 'IPv6 addresses', options: { xdsAddress: '[::1]:18000', sdsAddress: '[::1]:18003' } },
  {
    name: 'host names',
    options: { xdsAddress: 'controlplane:18000', sdsAddress: 'sds.internal:18003' },
  },
  {
    name: 'unix sockets',
    options: { xdsAddress: 'unix:/run/xds.sock', adminAddress: 'unix:/run/admin.sock' },
  },
];

for (const { name, options } of FORMS) {
  test(`Envoy accepts a bootstrap with ${name}`, async () => {
    const json = bootstrap({ ...OPTIONS, ...options });
    encode('envoy.config.bootstrap.v3.Bootstrap', json);
    assert.equal(await validate(json), undefined);
  });
}

test('host names are resolved, addresses are not', () => {
  const json = bootstrap({ ...OPTIONS, xdsAddress: 'controlplane:18000' });
  const { clusters } = json.static_resources as unknown as {
    clusters: { name: string; type: string }[];
  };
  assert.deepEqual(
    clusters.map(({ name, type }) => [name, type]),
    [
      ['controlplane', 'STRICT_DNS'],
      ['sds', 'STATIC'],
      ['sds-rest', 'STATIC'],
    ],
  );
});

test('the proxy tells the control plane which discovery clusters it has', () => {
  const json = bootstrap({ ...OPTIONS, discoveryClusters: [{ name: 'own@10.0.0.1:80' }] });
  const { metadata } = json.node as { metadata: unknown };
  assert.deepEqual(metadata, { discovery_clusters: ['sds', 'sds-rest', 'own@10.0.0.1:80'] });
});

for (const address of ['18000', 'host', '::1:18000', 'host:65536', 'http://host:80', '']) {
  test(`the address ${JSON.stringify(address)} is refused by name`, () => {
    assert.throws(() => bootstrap({ ...OPTIONS, sdsAddress: address }), {
      message: `Cannot parse the address of sds "${address}": write host:port, [IPv6]:port or unix:/path`,
    });
  });
}

test('an Envoy that starts with it warns of nothing but the control plane that is not there', async t => {
  const envoy = await startEnvoy(
    bootstrap({ ...OPTIONS, xdsAddress: '127.0.0.1:1', sdsAddress: '127.0.0.1:1' }),
  );
  t.after(() => envoy.stop());
  await until(
    async () =>
      /controlplane::.*::cx_connect_fail::[1-9]/.test(await envoy.get('/clusters')) || undefined,
  );
  const lines = envoy
    .log()
    .split('\n')
    .filter(line => line !== '');
  assert.deepEqual(
    lines.filter(line => !/DeltaAggregatedResources gRPC config stream/.test(line)),
    [],
  );
});
