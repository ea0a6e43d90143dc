import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { UnsecuredJWT } from 'jose';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { openStoreKey } from '#ext-authz/store/store-key.ts';
import { logIn } from '../testing/log-in.ts';
import { machineClient, webClient } from '../testing/oidc-clients.ts';
import { type OidcProvider, startOidcProvider } from '../testing/oidc-provider.ts';
import { cookiesOf, edgeSession } from './edge-session.ts';
import { type GuardedEnvoy, startGuarded } from './guarded-envoy.ts';
import { openKit } from './open-kit.ts';
import { openStore } from './open-store.ts';

const SECRET = 's'.repeat(40);
const ORIGIN = 'http://site.test:8080';
const CALLBACK = `${ORIGIN}/.gateway/oauth2/redirection-endpoint`;
const ALICE = {
  username: 'alice',
  password: 'wonder land',
  claims: { email: 'alice@example.com' },
};
const SMUGGLER = { username: 'alice\r\nx-admin: yes', password: 'trick' };
const folder = mkdtempSync(join(tmpdir(), 'ext-authz-'));

let upstream: Awaited<ReturnType<typeof startEchoServer>>;
let provider: OidcProvider;
let store: RecordStore;
let envoy: GuardedEnvoy;

before(async () => {
  upstream = await startEchoServer('up');
  provider = await startOidcProvider({
    clients: [
      webClient({ client_id: 'web', client_secret: SECRET }, [CALLBACK]),
      machineClient({ client_id: 'machine', client_secret: SECRET }),
    ],
    users: [ALICE, SMUGGLER],
    jwtClients: ['machine'],
    scopes: ['read'],
  });
  store = await openStore(folder);
  const kit = openKit(store, openStoreKey(folder, randomBytes));
  envoy = await startGuarded(resources(), kit);
});

after(async () => {
  await envoy.stop();
  await store.close();
  await provider.close();
  await upstream.close();
  rmSync(folder, { recursive: true });
});

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

function resources(): string {
  return [
    document(
      'Filter',
      'login',
      `{OAuth2: {authorizationURL: '${provider.issuer}', clientID: web, secretName: web, protectedOrigins: [{origin: '${ORIGIN}'}],
        injectRequestHeaders: [{name: X-User, value: '{{ .idToken.Claims.sub }}'}]}}`,
    ),
    document(
      'Filter',
      'machines',
      `{OAuth2: {authorizationURL: '${provider.issuer}', grantType: ClientCredentials}}`,
    ),
    document(
      'Filter',
      'tokens',
      `{JWT: {validAlgorithms: [none], injectRequestHeaders: [{name: X-User, value: '{{ .token.Claims.sub }}'}]}}`,
    ),
    document(
      'Filter',
      'told',
      `{JWT: {validAlgorithms: [none], errorResponse: {headers: [{name: Content-Type, value: text/plain}], bodyTemplate: 'call 123: {{ .message }}'}}}`,
    ),
    `---\napiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {oauth2-client-secret: ${SECRET}}\n`,
    document(
      'FilterPolicy',
      'site',
      `{rules: [{path: /open/*}, {path: /machines/*, filters: [{name: machines}]},
        {path: /read/*, filters: [{name: machines, arguments: {scope: [read]}}]}, {path: /unknown/*, filters: [{name: machines, arguments: {scope: [unknown]}}]},
        {path: /tokens/*, filters: [{name: tokens}]}, {path: /told/*, filters: [{name: told}]},
        {path: /either/*, filters: [{name: login, arguments: {insteadOfRedirect: {ifRequestHeader: {name: X-Gateway-Client-ID},
          filters: [{name: machines, arguments: {scope: [read]}}]}}}]},
        {path: '*', filters: [{name: login}]}]}`,
    ),
    document('Mapping', 'all', `{prefix: /, rewrite: '', service: '${upstream.address}'}`),
  ].join('');
}

const SITE = { host: 'site.test:8080' };

test('a user logs in, is known to the upstream, and logs out', async () => {
  const away = await envoy.ask('/page?x=1', { ...SITE, headers: { accept: 'text/html' } });
  assert.equal(away.status, 303);
  const callback = await logIn(String(away.headers.location), ALICE, CALLBACK);
  const back = await envoy.ask(callback.pathname + callback.search, {
    ...SITE,
    headers: { cookie: cookiesOf(away.headers) },
  });
  assert.deepEqual([back.status, back.headers.location], [303, `${ORIGIN}/page?x=1`]);
  const cookie = cookiesOf(back.headers);
  const { headers } = await envoy.echo('/page?x=1', {
    ...SITE,
    headers: { cookie: `a=1; ${cookie}`, 'x-user': 'root' },
  });
  assert.equal(headers['x-user'], 'alice');
  assert.match(headers.authorization ?? '', /^Bearer /);
  assert.match(headers.cookie ?? '', /^a=1; gateway_xsrf\.login\.default=[^;]*$/);

  const xsrf = /gateway_xsrf\.login\.default=([^;]*)/.exec(cookie)?.[1] ?? '';
  const logout = (body: string) =>
    envoy.ask('/.gateway/oauth2/logout', {
      ...SITE,
      method: 'POST',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });
  assert.equal((await logout('realm=login.default&_xsrf=wrong')).status, 403);
  const out = await logout(`realm=login.default&_xsrf=${xsrf}`);
  assert.equal(out.status, 303, out.body);
  assert.ok(String(out.headers.location).startsWith(`${provider.issuer}/`));
  assert.equal((await envoy.ask('/page', { ...SITE, headers: { cookie } })).status, 303);
});

test('a preflight of the logout is answered to a page of a protected origin', async () => {
  const preflight = async (origin: string) => {
    const { headers, status } = await envoy.ask('/.gateway/oauth2/logout', {
      ...SITE,
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    const names = ['origin', 'credentials', 'methods'].map(name => `access-control-allow-${name}`);
    return [status, ...names.map(name => headers[name])];
  };
  assert.deepEqual(await preflight(ORIGIN), [204, ORIGIN, 'true', 'POST']);
  assert.deepEqual(await preflight('http://evil.test'), [403, undefined, undefined, undefined]);
});

for (const spoofed of [
  { 'x-forwarded-host': 'evil.test' },
  { 'x-forwarded-proto': 'https' },
  { 'x-forwarded-port': '443', 'x-forwarded-prefix': '/evil' },
  { forwarded: 'host=evil.test;proto=https' },
  { 'x-original-url': '/open/', 'x-rewrite-url': '/open/' },
  { 'x-envoy-original-path': '/open/', 'x-envoy-original-host': 'evil.test' },
]) {
  test(`a login does not believe ${Object.keys(spoofed).join(' and ')}`, async () => {
    const { headers, status } = await envoy.ask('/page', { ...SITE, headers: spoofed });
    assert.equal(status, 303);
    const away = new URL(String(headers.location));
    assert.deepEqual(
      [away.origin, away.searchParams.get('redirect_uri')],
      [provider.issuer, CALLBACK],
    );
    assert.doesNotMatch(JSON.stringify(headers), /evil/);
  });
}

test('line breaks in a claim make no header: the request is answered 500', async () => {
  const session = await edgeSession(`http://127.0.0.1:${envoy.port}`, '/page', SMUGGLER, SITE.host);
  const { body, status } = await envoy.ask('/page', { ...SITE, headers: { cookie: session } });
  assert.equal(status, 500);
  assert.doesNotMatch(body, /admin/);
});

test('no page shows what a stranger put into a URL', async () => {
  const tag = encodeURIComponent('"><script>alert(1)</script>');
  const endpoint = '/.gateway/oauth2/redirection-endpoint';
  for (const path of [
    `${endpoint}?error=${tag}&error_description=${tag}&state=${tag}`,
    `${endpoint}?code=${tag}&state=${tag}&iss=${tag}`,
    `${endpoint}?handoff=${tag}&ticket=${tag}`,
    `/.gateway/oauth2/logout?realm=${tag}`,
    `/.gateway/oauth2/${tag}`,
  ]) {
    const { body, status } = await envoy.ask(path, { ...SITE, headers: { accept: 'text/html' } });
    assert.ok(status >= 400 && status < 500, `${path}: ${status}`);
    assert.doesNotMatch(body, /script|alert/, path);
  }
});

test('a machine brings its credentials, which no upstream sees', async () => {
  const headers = { 'x-gateway-client-id': 'machine', 'x-gateway-client-secret': SECRET };
  const passed = await envoy.ask('/machines/', { ...SITE, headers });
  assert.equal(passed.status, 200, passed.body);
  const upstreamHeaders = JSON.parse(passed.body).headers;
  assert.match(upstreamHeaders.authorization, /^Bearer ey/);
  assert.equal(passed.body.includes(SECRET), false);
  assert.equal((await envoy.ask('/machines/', SITE)).status, 403);
  const open = await envoy.ask('/open/', { ...SITE, headers });
  assert.equal(open.body.includes(SECRET), false);
});

test('a machine gets no further than the scope that the provider grants', async () => {
  const headers = { 'x-gateway-client-id': 'machine', 'x-gateway-client-secret': SECRET };
  const statusOf = async (path: string) => (await envoy.ask(path, { ...SITE, headers })).status;
  assert.deepEqual([await statusOf('/read/'), await statusOf('/unknown/')], [200, 403]);
});

test('where browsers log in, a machine passes with its credentials', async () => {
  const ask = (headers: Record<string, string>) => envoy.ask('/either/', { ...SITE, headers });
  const machine = { 'x-gateway-client-id': 'machine', 'x-gateway-client-secret': SECRET };
  const passed = await ask({ ...machine, authorization: 'Bearer mine', 'x-user': 'root' });
  assert.equal(passed.status, 200, passed.body);
  const { headers } = JSON.parse(passed.body);
  assert.match(headers.authorization, /^Bearer ey/);
  assert.deepEqual([headers['x-user'], passed.body.includes(SECRET)], [undefined, false]);
  const refused = await ask({ ...machine, 'x-gateway-client-secret': 'wrong' });
  assert.deepEqual([refused.status, (await ask({})).status], [403, 303]);
});

test('a token is checked, and its subject told to the upstream', async () => {
  const token = new UnsecuredJWT({}).setSubject('robot').encode();
  const { headers } = await envoy.echo('/tokens/', {
    ...SITE,
    headers: { authorization: `Bearer ${token}`, 'x-user': 'root' },
  });
  assert.equal(headers['x-user'], 'robot');
  assert.equal(headers.authorization, `Bearer ${token}`);
  const { headers: challenge, status } = await envoy.ask('/tokens/', SITE);
  assert.deepEqual([status, challenge['www-authenticate']], [401, 'Bearer realm="tokens.default"']);
});

test('a gRPC client gets the body of the Filter, too', async () => {
  const headers = { 'content-type': 'application/grpc' };
  const call = await envoy.ask('/told/', { ...SITE, method: 'POST', headers });
  assert.deepEqual(
    [call.headers['grpc-status'], call.headers['grpc-message']],
    ['16', 'call 123: a bearer token is required'],
  );
});
