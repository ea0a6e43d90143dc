import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { validate } from '#envoy/e2e/validate.ts';
import { folderOf, gateway } from '../testing/gateway.ts';

const DEMO = join(import.meta.dirname, '..', '..', 'envoy', 'resources');

const BESIDE = `apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: { name: beside }
spec:
  node_group: beside
  listener: { port: 8000 }
  virtual_hosts:
    - { name: all, domains: ["*"], routes: [{ prefix: /, cluster: local }] }
  clusters:
    - { name: local, type: static, hosts: [{ url: "tcp://127.0.0.1:5000" }] }
`;

describe('gateway compile', () => {
  test('prints YAML that Envoy accepts', async () => {
    const { code, stdout, stderr } = await gateway('compile', DEMO, '--node-group', 'edge');
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(await validate(parse(stdout, { version: '1.1' })), undefined);
  });

  test('prints the same as JSON', async () => {
    const yaml = await gateway('compile', DEMO, '--node-group', 'edge');
    const json = await gateway('compile', DEMO, '--node-group', 'edge', '--json');
    assert.deepEqual(JSON.parse(json.stdout), parse(yaml.stdout, { version: '1.1' }));
  });

  test('listens where it is told to', async () => {
    const { stdout } = await gateway(
      'compile',
      DEMO,
      '--node-group=edge',
      '--edge=127.0.0.1:8181',
      '--json',
    );
    const [listener] = JSON.parse(stdout).static_resources.listeners;
    assert.deepEqual(listener.address.socket_address, { address: '127.0.0.1', port_value: 8181 });
  });

  test('is for the proxies of one node group', async t => {
    const folder = await folderOf(t, { 'beside.yaml': BESIDE });
    const { code, stdout } = await gateway(
      'compile',
      folder,
      DEMO,
      '--node-group=beside',
      '--json',
    );
    const { node, static_resources } = JSON.parse(stdout);
    assert.deepEqual([code, node.cluster, static_resources.listeners.length], [0, 'beside', 1]);
    assert.equal(await validate(JSON.parse(stdout)), undefined);
  });

  test('encrypts what goes between proxies with --hop-tls', async () => {
    const clusters = async (...flags: readonly string[]) => {
      const { stdout } = await gateway('compile', DEMO, '--node-group=edge', '--json', ...flags);
      return JSON.stringify(JSON.parse(stdout).static_resources.clusters);
    };
    const group = 'spiffe://gateway\\\\.internal/group/user-service';
    assert.ok((await clusters('--hop-tls')).includes(group));
    assert.ok(!(await clusters()).includes(group));
  });

  test('names the node groups that there are', async t => {
    const folder = await folderOf(t, { 'beside.yaml': BESIDE });
    assert.deepEqual(await gateway('compile', folder, '--node-group', 'besides'), {
      code: 1,
      stdout: '',
      stderr:
        'gateway: no resource is for node group "besides", did you mean `beside`? (there is beside, edge)\n',
    });
  });

  test('prints the good part, and the problems to stderr', async t => {
    const broken = BESIDE.replace('node_group: beside', 'node_group: Beside');
    const folder = await folderOf(t, {
      'a.yaml': BESIDE,
      'b.yaml': broken.replace('name: beside', 'name: b'),
    });
    const { code, stdout, stderr } = await gateway(
      'compile',
      folder,
      '--node-group=beside',
      '--json',
    );
    assert.equal(code, 1);
    assert.match(stderr, /^error: ProxyConfig default\/b \(.*b\.yaml:5, spec\.node_group\): .*\n$/);
    assert.equal(JSON.parse(stdout).static_resources.listeners.length, 1);
  });

  test('refuses an address that is none', async () => {
    const { code, stderr } = await gateway('compile', DEMO, '--node-group=edge', '--sds=nowhere');
    assert.deepEqual(
      [code, stderr],
      [1, 'gateway: --sds is "nowhere": want host:port, for example 127.0.0.1:18003\n'],
    );
  });
});
