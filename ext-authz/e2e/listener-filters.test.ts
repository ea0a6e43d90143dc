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

const folder = mkdtempSync(join(tmpdir(), 'listener-filters-'));
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
const jwt = (name: string, more = '') =>
  own(
    'Filter',
    name,
    `{JWT: {validAlgorithms: [none], ${more}injectRequestHeaders: [{name: X-${name}, value: '{{ .token.Claims.sub }}'}]}}`,
  );
const ref = (name: string) =>
  `{type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: ${name}}}`;
const listener = (name: string, filters: string) =>
  `{name: ${name}, port: 8000, protocol: HTTP, hostname: "*.${name}.test", filters: {requests: [${filters}]}}`;
const path = (name: string, filters = '') =>
  `{name: ${name}, matches: [{path: {value: /${name}}}], filters: [${filters}], backendRefs: [{name: up, port: 80}]}`;

const EXTERNAL =
  '{type: ExternalAuth, externalAuth: {protocol: GRPC, grpc: {}, backendRef: {name: up, port: 80}}}';

/** The route has every host of every listener. A request that left its listener would be let in. */
const RESOURCES = [
  ...['front', 'second', 'policy', 'route', 'path'].map(name => jwt(name)),
  jwt('strict', "issuer: 'https://strict.test', "),
  own('Filter', 'rejected', '{JWT: {validAlgorithm: [none]}}'),
  own(
    'FilterPolicy',
    'policy',
    '{targetRefs: [{kind: HTTPRoute, name: site, sectionName: policy}], filters: [{name: policy}]}',
  ),
  own(
    'FilterPolicy',
    'public',
    '{targetRefs: [{kind: HTTPRoute, name: site, sectionName: public}], filters: []}',
  ),
  own(
    'FilterPolicy',
    'path',
    '{rules: [{path: /path/*, filters: [{name: path, onAllow: break}]}]}',
  ),
  `---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: gateway}
spec: {controllerName: gateway.internal/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: site}
spec:
  gatewayClassName: gateway
  listeners:
    - {name: open, port: 8000, protocol: HTTP}
    - ${listener('one', ref('front'))}
    - ${listener('two', `${ref('front')}, ${ref('second')}`)}
    - ${listener('strict', `${ref('front')}, ${ref('strict')}`)}
    - ${listener('missing', `${ref('front')}, ${ref('gone')}`)}
    - ${listener('rejected', ref('rejected'))}
    - ${listener('external', `${ref('front')}, ${EXTERNAL}`)}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: site}
spec:
  parentRefs: [{name: site}]
  rules:
    - ${path('any')}
    - ${path('policy')}
    - ${path('public')}
    - ${path('path')}
    - ${path('named', ref('route'))}
    - {matches: [{path: {value: /away}}], filters: [{type: RequestRedirect, requestRedirect: {port: 9}}]}
    - {matches: [{path: {value: /chosen}, headers: [{name: x-front, value: root}]}], backendRefs: [{name: up, port: 80}]}
`,
].join('');

const bearer = (issuer = 'https://any.test') => ({
  authorization: `Bearer ${new UnsecuredJWT({}).setSubject('ada').setIssuer(issuer).encode()}`,
});

const HEADERS = ['front', 'second', 'policy', 'route', 'path'].map(name => `x-${name}`);
const FORGED = Object.fromEntries(HEADERS.map(name => [name, 'root']));

/** What a request tells: the Filters that let it pass, in alphabetical order. */
const IN_FORCE: readonly (readonly [host: string, path: string, filters: readonly string[]])[] = [
  ['one', '/any', ['front']],
  ['one', '/policy', ['front', 'policy']],
  ['one', '/public', ['front']],
  ['one', '/named', ['front', 'route']],
  ['one', '/path/x', ['front', 'path']],
  ['two', '/any', ['front', 'second']],
  ['two', '/named', ['front', 'route', 'second']],
];

for (const [name, path, filters] of IN_FORCE) {
  test(`${name}${path} is for those that ${filters.join(' and ')} let pass`, async () => {
    const host = `a.${name}.test`;
    assert.equal((await envoy.ask(path, { host, headers: FORGED })).status, 401);
    const { headers } = await envoy.echo(path, { host, headers: { ...bearer(), ...FORGED } });
    const said = HEADERS.filter(header => headers[header] === 'ada');
    assert.deepEqual(said.sort(), filters.map(filter => `x-${filter}`).sort());
    assert.ok(filters.every(filter => headers[`x-${filter}`] !== 'root'));
  });
}

test('another listener of the port asks for nothing', async () => {
  assert.equal((await envoy.ask('/any', { host: 'open.test' })).status, 200);
});

for (const [what, path, passed] of [
  ['a path without a route', '/none', 404],
  ['a redirect', '/away', 302],
] as const) {
  test(`the Filters of the listener decide before ${what}`, async () => {
    const host = 'a.one.test';
    assert.equal((await envoy.ask(path, { host })).status, 401);
    assert.equal((await envoy.ask(path, { host, headers: bearer() })).status, passed);
  });
}

test('each Filter of a listener must let a request pass', async () => {
  const ask = (issuer: string) =>
    envoy.ask('/any', { host: 'a.strict.test', headers: bearer(issuer) });
  assert.equal((await ask('https://any.test')).status, 401);
  assert.equal((await ask('https://strict.test')).status, 200);
});

test('a header that a Filter sets chooses no route, whoever sends it', async () => {
  const ask = (host: string, headers: Record<string, string>) =>
    envoy.ask('/chosen', { host, headers });
  assert.equal((await ask('a.one.test', { ...bearer(), 'x-front': 'root' })).status, 500);
  assert.equal((await ask('a.one.test', bearer())).status, 404);
  assert.equal((await ask('open.test', { 'x-front': 'root' })).status, 200);
});

for (const name of ['missing', 'rejected', 'external']) {
  for (const path of ['/any', '/none']) {
    test(`${name}${path} is closed, whatever is shown`, async () => {
      const asked = { host: `a.${name}.test`, headers: bearer() };
      assert.equal((await envoy.ask(path, asked)).status, 500);
    });
  }
}
