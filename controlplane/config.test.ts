import assert from 'node:assert/strict';
import { delimiter } from 'node:path';
import { test } from 'node:test';
import { readConfig } from './config.ts';

test('without environment the control plane has its documented addresses', () => {
  const config = readConfig({});
  assert.deepEqual(config.xds, { host: '127.0.0.1', port: 18000 });
  assert.deepEqual(config.http, { host: '127.0.0.1', port: 8877 });
  assert.deepEqual(config.edge, { host: '127.0.0.1', port: 8080 });
  assert.deepEqual(config.sds, { host: '127.0.0.1', port: 18003 });
  assert.deepEqual(config.rateLimit, { host: '127.0.0.1', port: 18002 });
  assert.deepEqual(config.apiGroups, ['gateway.internal', 'getambassador.io']);
});

test('lists and addresses are read as written', () => {
  const config = readConfig({
    RESOURCES: ['/a', '/b'].join(delimiter),
    XDS_ADDRESS: '[::1]:0',
    SDS_ADDRESS: 'sds:18003',
  });
  assert.deepEqual(config.resources, ['/a', '/b']);
  assert.deepEqual(config.xds, { host: '::1', port: 0 });
  assert.deepEqual(config.sds, { host: 'sds', port: 18003 });
});

test('a list that names nothing is rejected: it would have the gateway read nothing, or its demo', () => {
  for (const name of ['RESOURCES', 'RESOURCES_KUBERNETES', 'API_GROUPS']) {
    const value = name === 'RESOURCES' ? delimiter : ' , ';
    assert.throws(
      () => readConfig({ [name]: value }),
      new RegExp(`^Error: ${name} is "[:;,]", which names nothing`),
    );
  }
});

test('with namespaces of Kubernetes no folder is read, unless one is named', () => {
  const { resources, kubernetes } = readConfig({
    RESOURCES_KUBERNETES: 'shop, web,shop',
    KUBECONFIG: '/k',
  });
  assert.deepEqual(
    [resources, kubernetes],
    [[], { namespaces: ['shop', 'web'], kubeconfig: '/k' }],
  );
  assert.deepEqual(readConfig({ RESOURCES_KUBERNETES: '*', RESOURCES: '/a' }).kubernetes, {});
  assert.deepEqual(readConfig({ RESOURCES_KUBERNETES: '*', RESOURCES: '/a' }).resources, ['/a']);
  assert.equal(readConfig({ KUBECONFIG: '/k' }).kubernetes, undefined);
  assert.throws(
    () => readConfig({ RESOURCES_KUBERNETES: 'a,B' }),
    /^Error: RESOURCES_KUBERNETES has "B": want names of namespaces/,
  );
});

test('in a cluster each Gateway has proxies of its own, unless it is said that they share', () => {
  const sharedEdge = (env: Record<string, string>) => readConfig(env).gateways.sharedEdge;
  assert.equal(sharedEdge({}), true);
  assert.equal(sharedEdge({ RESOURCES_KUBERNETES: '*' }), false);
  assert.equal(sharedEdge({ RESOURCES_KUBERNETES: '*', GATEWAY_EDGES: 'shared' }), true);
  assert.throws(() => readConfig({ GATEWAY_EDGES: 'one' }), {
    message: 'GATEWAY_EDGES is "one": want own or shared',
  });
});

test('the name of the controller is a domain and a path', () => {
  const GATEWAY_CONTROLLER = 'shop.example/edge';
  assert.equal(readConfig({ GATEWAY_CONTROLLER }).gateways.controller, GATEWAY_CONTROLLER);
  for (const wrong of ['shop.example', '/edge', 'Shop.example/edge', 'shop.example/a b'])
    assert.throws(() => readConfig({ GATEWAY_CONTROLLER: wrong }), /^Error: GATEWAY_CONTROLLER is/);
});

test('EDGE_PULL_SECRETS are names of Secrets, and none by default', () => {
  const secrets = (env: Record<string, string>) => readConfig(env).edgePods.pullSecrets;
  assert.deepEqual(secrets({}), []);
  assert.deepEqual(secrets({ EDGE_PULL_SECRETS: 'registry, mirror.1' }), ['registry', 'mirror.1']);
  assert.throws(() => secrets({ EDGE_PULL_SECRETS: 'Registry' }), {
    message:
      'EDGE_PULL_SECRETS has "Registry": want names of Secrets with commas between, for example registry',
  });
});

test('API_GROUPS are domain names, without a version', () => {
  assert.deepEqual(readConfig({ API_GROUPS: 'a.test, b' }).apiGroups, ['a.test', 'b']);
  for (const wrong of ['a.test/v2', 'a b', 'A.test'])
    assert.throws(() => readConfig({ API_GROUPS: `a,${wrong}` }), {
      message: `API_GROUPS has "${wrong}": want domain names with commas between, for example gateway.internal`,
    });
});

for (const [name, value] of [
  ['XDS_ADDRESS', '18000'],
  ['HTTP_ADDRESS', '127.0.0.1:99999'],
  ['EDGE_ADDRESS', '[localhost]:80'],
  ['EDGE_TLS_ADDRESS', '8443'],
  ['EDGE_TLS_ADDRESS', '127.0.0.1:8080'],
  ['EDGE_HTTPS_PORT', '0'],
  ['EDGE_HTTPS_PORT', 'https'],
  ['SDS_ADDRESS', ':1'],
  ['SDS_ADDRESS', 'sds:0'],
  ['EDGE_ADDRESS', 'a b:80'],
  ['EXT_AUTHZ_ADDRESS', '18001'],
  ['RATELIMIT_ADDRESS', 'ratelimit'],
  ['XDS_PLAINTEXT_SECRETS', 'yes'],
  ['HOP_TLS', 'on'],
  ['TRUST_DOMAIN', 'a b'],
  ['LOG_LEVEL', 'loud'],
] as const) {
  test(`${name}=${value} is rejected by name`, () => {
    assert.throws(() => readConfig({ [name]: value }), new RegExp(`^Error: ${name} is "`));
  });
}
