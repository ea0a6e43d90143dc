import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { folderOf, gatewayWith } from '../testing/gateway.ts';

const MAPPING = `apiVersion: getambassador.io/v2
kind: Mapping
metadata: { name: shop }
spec: { prefix: /shop/, service: shop, ambassador_id: prod }
`;
const INGRESS = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop
  annotations: { nginx.ingress.kubernetes.io/upstream-vhost: b test, kubernetes.io/ingress.class: nginx }
spec:
  rules: [{ http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: shop, port: { number: 80 } } } }] } }]
`;

const PROD = { GATEWAY_ID: 'prod' };
const NONE = { GATEWAY_ID: '' };

describe('with GATEWAY_ID a command reads the resources of that gateway alone:', () => {
  test('explain', async t => {
    const asked = [
      'explain',
      'GET',
      '/shop/',
      '--resources',
      await folderOf(t, { 'a.yaml': MAPPING }),
    ];
    assert.equal((await gatewayWith(PROD, ...asked)).code, 0);
    assert.equal((await gatewayWith(NONE, ...asked)).code, 1);
  });

  test('compile', async t => {
    const asked = ['compile', await folderOf(t, { 'a.yaml': MAPPING }), '--node-group', 'edge'];
    assert.match((await gatewayWith(PROD, ...asked)).stdout, /prefix: \/shop\//);
    assert.doesNotMatch((await gatewayWith(NONE, ...asked)).stdout, /shop/);
  });

  test('diff', async t => {
    const next = await folderOf(t, { 'a.yaml': MAPPING });
    const asked = ['diff', join(next, 'a.yaml'), '--resources', await folderOf(t, {})];
    assert.match((await gatewayWith(PROD, ...asked)).stdout, /\+ Mapping default\/shop/);
    assert.equal((await gatewayWith(NONE, ...asked)).code, 0);
  });

  test('but import checks what it writes, which is for the gateway that is named default', async t => {
    const asked = ['import', join(await folderOf(t, { 'a.yaml': INGRESS }), 'a.yaml')];
    const { stderr } = await gatewayWith(PROD, ...asked);
    assert.match(stderr, /^closed: .* spec\.host_rewrite of the Mapping .* would be wrong/m);
  });
});
