import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { validate } from '#envoy/e2e/validate.ts';
import { folderOf, gateway } from '../testing/gateway.ts';

const OWN_DISCOVERY = `apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: { name: edge }
spec:
  node_group: edge
  cluster_manager:
    sds:
      cluster: { name: catalogue, type: static, hosts: [{ url: "tcp://127.0.0.1:7000" }] }
`;

describe('gateway bootstrap', () => {
  test('prints what Envoy accepts', async () => {
    const { code, stdout, stderr } = await gateway(
      'bootstrap',
      'edge',
      '--admin',
      '127.0.0.1:9901',
    );
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(await validate(parse(stdout, { version: '1.1' })), undefined);
  });

  test('puts in who the proxy is and whom it asks', async () => {
    const flags = [
      '--id',
      'edge-7',
      '--xds',
      'cp.internal:18000',
      '--sds',
      '127.0.0.1:18003',
      '--json',
    ];
    const { stdout } = await gateway('bootstrap', 'edge', ...flags);
    const { admin, node, static_resources } = JSON.parse(stdout);
    assert.deepEqual([admin, node.id, node.cluster], [undefined, 'edge-7', 'edge']);
    assert.match(
      JSON.stringify(static_resources.clusters[0]),
      /"address":"cp.internal","port_value":18000/,
    );
  });

  test('lets no client of the edge or of a Gateway reset streams without a bound', async () => {
    for (const [group, isBounded] of [
      ['edge', true],
      ['infra-site-0123456789abcdef', true],
      ['user-service', false],
    ] as const) {
      const { stdout } = await gateway('bootstrap', group, '--json');
      assert.equal(stdout.includes('premature_reset_total_stream_count'), !isBounded, group);
    }
  });

  test("knows the discovery services that the node group's own resources name", async t => {
    const folder = await folderOf(t, { 'edge.yaml': OWN_DISCOVERY });
    const { code, stdout } = await gateway('bootstrap', 'edge', '--resources', folder, '--json');
    assert.equal(code, 0);
    assert.match(JSON.stringify(JSON.parse(stdout).static_resources), /"port_value":7000/);
  });

  test('says what is wrong with those', async t => {
    const folder = await folderOf(t, { 'edge.yaml': OWN_DISCOVERY.replace('static', 'statc') });
    const { code, stderr } = await gateway('bootstrap', 'edge', '--resources', folder);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^error: ProxyConfig default\/edge \(.*edge\.yaml:8, spec\.cluster_manager/,
    );
  });

  test('asks by mutual TLS with the identity of a folder, of which it prints the files that name it', async () => {
    const tls = ['--tls-folder', '/run/identity', '--tls-secrets', '/etc/gateway', '--json'];
    const { stdout } = await gateway('bootstrap', 'edge', ...tls);
    const { clusters } = JSON.parse(stdout).static_resources;
    for (const cluster of clusters)
      assert.match(JSON.stringify(cluster), /"\/etc\/gateway\/identity\.yaml"/);
    const files = await Promise.all(
      ['identity.yaml', 'roots.yaml'].map(file =>
        gateway('bootstrap', 'edge', ...tls, '--print', file),
      ),
    );
    const paths = files.map(({ stdout }) => stdout.match(/\/run\/identity\/\w+\.\w+/g));
    assert.deepEqual(paths, [
      ['/run/identity/tls.crt', '/run/identity/tls.key'],
      ['/run/identity/ca.crt'],
    ]);
  });

  const mistakes = [
    [['Edge'], /^gateway: "Edge" is not a node group: /],
    [['edge', '--print', 'roots.yaml'], /^gateway: --print wants --tls-folder/],
    [
      ['edge', '--tls-folder', '/a', '--print', 'b'],
      /^gateway: --print is "b": want identity.yaml or/,
    ],
    [
      ['edge', '--trust-domain', 'A B', '--tls-folder', '/a'],
      /^gateway: --trust-domain is "A B": want small/,
    ],
    [
      ['edge', '--trust-domain', 'a.test'],
      /^gateway: --tls-secrets and --trust-domain want --tls-folder/,
    ],
    [
      ['edge', '--tls-secrets', '/a'],
      /^gateway: --tls-secrets and --trust-domain want --tls-folder/,
    ],
    [['edge', '--admin', 'unix:'], /^gateway: Cannot parse the admin address "unix:"/],
    [['edge', '--xds', 'nowhere'], /^gateway: Cannot parse the address of controlplane "nowhere"/],
  ] as const;
  for (const [args, message] of mistakes) {
    test(`refuses ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await gateway('bootstrap', ...args);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, message);
    });
  }
});
