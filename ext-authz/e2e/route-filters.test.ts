import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { UnsecuredJWT } from 'jose';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import { GATEWAY_EDGE, withPorts } from '#controlplane/compile/e2e/gateway-ports.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { openStoreKey } from '#ext-authz/store/store-key.ts';
import { type GuardedEnvoy, startGuarded } from './guarded-envoy.ts';
import { openKit } from './open-kit.ts';
import { openStore } from './open-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'route-filters-'));
let upstream: Awaited<ReturnType<typeof startEchoServer>>;
let store: RecordStore;
let envoy: GuardedEnvoy;

before(async () => {
  upstream = await startEchoServer('up');
  store = await openStore(folder);
  const kit = openKit(store, openStoreKey(folder, randomBytes));
  const { address } = upstream;
  envoy = await startGuarded(
    RESOURCES,
    kit,
    undefined,
    bootstrap => withPorts(bootstrap, { up: address }),
    { edge: GATEWAY_EDGE },
  );
});

after(async () => {
  await envoy.stop();
  await store.close();
  await upstream.close();
  rmSync(folder, { recursive: true });
});

const own = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
const rule = (path: string, filters: string) =>
  `{matches: [{path: {value: ${path}}}], filters: [${filters}], backendRefs: [{name: up, port: 80}]}`;
const filter = (name: string) =>
  `{type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: ${name}}}`;
const jwt = (header: string, claim: string) =>
  `{JWT: {validAlgorithms: [none], injectRequestHeaders: [{name: ${header}, value: '{{ .token.Claims.${claim} }}'}]}}`;

const RESOURCES = [
  own('Filter', 'user', jwt('X-User', 'sub')),
  own('Filter', 'plan', jwt('X-Plan', 'plan')),
  own('FilterPolicy', 'both', '{rules: [{path: /both/*, filters: [{name: plan}]}]}'),
  `---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: gateway}
spec: {controllerName: gateway.internal/gateway-controller}
---
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
    - ${rule('/private', filter('user'))}
    - ${rule('/both', filter('user'))}
    - ${rule('/lost', filter('none'))}
    - ${rule('/', '')}
    - {matches: [{path: {value: /away}}], filters: [${filter('user')}, {type: RequestRedirect, requestRedirect: {port: 9}}]}
`,
].join('');

const HOST = { host: 'site.test' };
const token = new UnsecuredJWT({ plan: 'gold' }).setSubject('alice').encode();
const AUTHORIZED = { ...HOST, headers: { authorization: `Bearer ${token}`, 'x-user': 'root' } };

test('a Filter that a rule names decides about its requests', async () => {
  assert.equal((await envoy.ask('/private/a', HOST)).status, 401);
  const { headers } = await envoy.echo('/private/a', AUTHORIZED);
  assert.equal(headers['x-user'], 'alice');
});

test('other rules of the route are open, and hear nothing that only the Filter may say', async () => {
  const { headers } = await envoy.echo('/open', AUTHORIZED);
  assert.equal(headers['x-user'], undefined);
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
