import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, CLASS, filterRef, guardedGateway, jwt, own } from './guarded-gateway.ts';

const rule = (path: string, filters: string) =>
  `{matches: [{path: {value: ${path}}}], filters: [${filters}], backendRefs: [{name: up, port: 80}]}`;

const RESOURCES = [
  jwt('user'),
  jwt('plan', '', 'plan'),
  jwt('tenant', '', 'tenant'),
  own(
    'Filter',
    'programs',
    '{OAuth2: {grantType: ClientCredentials, authorizationURL: "http://127.0.0.1:1", accessTokenJWTFilter: {name: tenant}}}',
  ),
  own('FilterPolicy', 'both', '{rules: [{path: /both/*, filters: [{name: plan}]}]}'),
  CLASS,
  `---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: site}
spec: {gatewayClassName: gateway, listeners: [{name: http, port: 8000, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: site}
spec:
  parentRefs: [{name: site}]
  hostnames: [site.test]
  rules:
    - ${rule('/private', filterRef('user'))}
    - ${rule('/both', filterRef('user'))}
    - ${rule('/programs', filterRef('programs'))}
    - ${rule('/lost', filterRef('none'))}
    - ${rule('/', '')}
    - {matches: [{path: {value: /away}}], filters: [${filterRef('user')}, {type: RequestRedirect, requestRedirect: {port: 9}}]}
`,
].join('');

const envoy = guardedGateway(RESOURCES);

const HOST = { host: 'site.test' };
const AUTHORIZED = {
  ...HOST,
  headers: { ...bearer({ sub: 'alice', plan: 'gold' }), 'x-user': 'root', 'x-tenant': 'root' },
};

test('a Filter that a rule names decides about its requests', async () => {
  assert.equal((await envoy.ask('/private/a', HOST)).status, 401);
  const { headers } = await envoy.echo('/private/a', AUTHORIZED);
  assert.equal(headers['x-user'], 'alice');
});

test('other rules of the route are open, and hear nothing that only the Filter may say', async () => {
  const { headers } = await envoy.echo('/open', AUTHORIZED);
  assert.equal(headers['x-user'], undefined);
  assert.equal(headers['x-tenant'], undefined);
});

test('the Filters of a rule and those of a FilterPolicy both decide', async () => {
  assert.equal((await envoy.ask('/both/a', HOST)).status, 401);
  const { headers } = await envoy.echo('/both/a', AUTHORIZED);
  assert.deepEqual([headers['x-user'], headers['x-plan']], ['alice', 'gold']);
});

test('a redirect is behind the Filter as well', async () => {
  assert.equal((await envoy.ask('/away', HOST)).status, 401);
  assert.equal((await envoy.ask('/away', AUTHORIZED)).status, 302);
});

test('a Filter that is not there closes its rule', async () => {
  assert.equal((await envoy.ask('/lost', AUTHORIZED)).status, 500);
});
