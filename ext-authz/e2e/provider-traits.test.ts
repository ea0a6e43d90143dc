import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, before, beforeEach, test } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import pino from 'pino';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { openStoreKey } from '#ext-authz/store/store-key.ts';
import {
  type HostileProvider,
  makeSigningKey,
  startHostileProvider,
} from '../testing/hostile-provider.ts';
import { cookiesOf } from './edge-session.ts';
import { type GuardedEnvoy, startGuarded } from './guarded-envoy.ts';
import { openKit } from './open-kit.ts';
import { openStore } from './open-store.ts';

// What providers in use do, each by itself in the parts' own tests, here together through a real
// Envoy.

const SECRET = 'X8Q~secret with/odd+characters=';
const HOST = 'site.test:8080';
const ORIGIN = `http://${HOST}`;
const folder = mkdtempSync(join(tmpdir(), 'ext-authz-'));

let upstream: Server;
let provider: HostileProvider;
let store: RecordStore;
let envoy: GuardedEnvoy;
const lines: string[] = [];

before(async () => {
  upstream = createServer({ maxHeaderSize: 131_072 }, ({ headers }, response) =>
    response.end(JSON.stringify(headers)),
  ).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  provider = await startHostileProvider();
  store = await openStore(folder);
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const kit = openKit(store, openStoreKey(folder, randomBytes));
  envoy = await startGuarded(resources(), kit, pino({ base: null }, stream));
});

after(async () => {
  await envoy.stop();
  await store.close();
  await provider.close();
  upstream.close();
  rmSync(folder, { recursive: true });
});

beforeEach(() => {
  provider.reset();
  lines.length = 0;
});

/** A Filter for each path below `/`, so that each has a provider's documents of its own. */
const PATHS = ['large', 'plain', 'keys', 'refused', 'odd'] as const;

function resources(): string {
  const filter = (name: string) => `---
apiVersion: gateway.internal/v2
kind: Filter
metadata: {name: ${name}}
spec:
  OAuth2:
    authorizationURL: '${provider.issuer}'
    clientID: client
    secret: ${JSON.stringify(SECRET)}
    protectedOrigins: [{origin: '${ORIGIN}'}]
    injectRequestHeaders:
      - {name: X-Name, value: '{{ .idToken.Claims.name }}'}
      - {name: X-Groups, value: '{{ range .idToken.Claims.groups }}{{ . }} {{ end }}'}
`;
  const rules = PATHS.map(
    path => `{path: '/${path}', filters: [{name: ${path}, arguments: {scope: [profile]}}]}`,
  );
  return `${PATHS.map(filter).join('')}---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: {name: site}
spec: {rules: [${rules.join(', ')}]}
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: all}
spec: {prefix: /, rewrite: '', service: '127.0.0.1:${(upstream.address() as AddressInfo).port}'}
`;
}

/**
 * What the token endpoint says, beside an ID token with these claims. The code begins with the
 * nonce of its login.
 */
function grant(
  members: object,
  claims: object,
  signing: Parameters<HostileProvider['idToken']>[0] = {},
): void {
  provider.behave('token', async ({ form }) => {
    const nonce = form.get('code')?.slice(0, 43);
    const id_token = await provider.idToken({ ...signing, claims: { nonce, ...claims } });
    return { body: { access_token: 'opaque', token_type: 'Bearer', id_token, ...members } };
  });
}

/**
 * Goes to a page and to the provider, which sends back with `parameters` besides `state`. Returns
 * the answer to that.
 */
async function comeBack(
  path: (typeof PATHS)[number],
  parameters: (nonce: string) => Record<string, string>,
) {
  const page = { host: HOST, headers: { accept: 'text/html' } };
  const away = await envoy.ask(`/${path}`, page);
  assert.equal(away.status, 303, `${away.body} ${lines.join('')}`);
  const { searchParams } = new URL(String(away.headers.location));
  const query = new URLSearchParams({
    state: searchParams.get('state') ?? '',
    ...parameters(searchParams.get('nonce') ?? ''),
  });
  const headers = { accept: 'text/html', cookie: cookiesOf(away.headers) };
  return envoy.ask(`/.gateway/oauth2/redirection-endpoint?${query}`, { host: HOST, headers });
}

const withCode = (nonce: string) => ({ code: nonce });

/** Returns what the upstream gets of a user who has logged in. */
async function pass(
  path: (typeof PATHS)[number],
  parameters = withCode,
): Promise<Record<string, string>> {
  const back = await comeBack(path, parameters);
  assert.equal(back.status, 303, `${back.body} ${lines.join('')}`);
  const passed = await envoy.ask(`/${path}`, {
    host: HOST,
    headers: { cookie: cookiesOf(back.headers) },
  });
  assert.equal(passed.status, 200, `${passed.body} ${lines.join('')}`);
  return JSON.parse(passed.body);
}

test('an ID token of 30 kB, names in all scripts, a code of 2 kB and unknown parameters', async () => {
  const groups = Array.from({ length: 600 }, () => '0f1a4c0e-1111-4222-8333-94e51c5d7fd6');
  const name = 'Zoë Østergård 名前 😀';
  grant({}, { groups, name });
  const headers = await pass('large', nonce => ({
    code: nonce + 'x'.repeat(2_000),
    iss: provider.issuer,
    session_state: '18f0e3b0-bee2-44a5-b049-6e349dbeda49',
    client_info: 'eyJ1aWQiOiIx',
  }));
  assert.equal(Buffer.from(headers['x-name'] ?? '', 'latin1').toString(), name);
  assert.equal(headers['x-groups']?.trim().split(' ').length, 600);
  assert.equal(headers.authorization, 'Bearer opaque');
});

test('a discovery document of the bare minimum, and a token answer in the manner of Entra v1', async () => {
  const { issuer, authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } =
    provider.discovery();
  const minimal = { issuer, authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint };
  provider.behave('discovery', () => ({
    body: {
      ...minimal,
      end_session_endpoint: '',
      'x-unknown': { deep: [1] },
      check_session_iframe: null,
    },
  }));
  const odd = {
    token_type: 'BEARER',
    expires_in: '3599',
    ext_expires_in: '3599',
    expires_on: '1388444763',
  };
  grant({ ...odd, scope: 'user_impersonation', refresh_token: '' }, { name: 'Ada' });
  assert.equal((await pass('plain'))['x-name'], 'Ada');
  const [request] = provider.asked('token');
  const [, basic = ''] = request?.headers.authorization?.split(' ') ?? [];
  const [id, password] = Buffer.from(basic, 'base64').toString().split(':');
  assert.deepEqual([id, new URLSearchParams(`=${password}`).get('')], ['client', SECRET]);
});

test('a key set with keys for encryption, of unknown kinds and without kid', async () => {
  const signing = await makeSigningKey('es', 'ES256');
  const { kid: _, ...own } = signing.publicJwk;
  const { publicKey } = await generateKeyPair('RSA-OAEP');
  const encrypting = await exportJWK(publicKey);
  provider.behave('jwks', () => ({
    headers: { 'content-type': 'application/jwk-set+json' },
    body: {
      keys: [
        { ...encrypting, kid: 'enc', use: 'enc', alg: 'RSA-OAEP' },
        { kty: 'MAC', alg: 'HS256', value: 'tokenkey', kid: 'uaa' },
        { kty: 'AKP', alg: 'ML-DSA-44', pub: 'AAAA', kid: 'pq' },
        { kty: 'oct', k: 'c2VjcmV0', kid: 'es' },
        own,
      ],
    },
  }));
  grant({}, { name: 'Ada' }, { header: { alg: 'ES256', kid: undefined }, key: signing.privateKey });
  assert.equal((await pass('keys'))['x-name'], 'Ada');
});

/** The log's line of why the callback was answered so. */
const told = () => {
  const found = lines.map(line => JSON.parse(line)).filter(({ reason }) => reason !== undefined);
  assert.equal(found.length, 1, lines.join(''));
  return found[0];
};

test('a client that the provider refuses: the log names the Filter, its settings and what the provider said', async () => {
  const error_description = `AADSTS7000215: Invalid client secret ${SECRET} for the code.`;
  provider.behave('token', () => ({
    status: 401,
    body: { error: 'invalid_client', error_description },
  }));
  const back = await comeBack('refused', withCode);
  assert.equal(back.status, 502);
  assert.match(back.body, /invalid_client.*Start again/s);
  const { level, realm, reason } = told();
  assert.deepEqual([level, realm], [50, 'refused.default']);
  assert.match(
    reason,
    /AADSTS7000215: Invalid client secret … for the code\..*clientID, secret and clientAuthentication/,
  );
  assert.doesNotMatch(lines.join('') + back.body, /X8Q/);
});

for (const [title, members, claims, reason] of [
  [
    'a clock that is a day off',
    {},
    { iat: Math.floor(Date.now() / 1_000) + 86_400 },
    /`iat` is \d+ s ahead by the clock here/,
  ],
  [
    'an ID token for another client',
    {},
    { aud: 'other' },
    /`aud` is "other", which is not clientID "client"/,
  ],
  [
    'an access token in the manner of Salesforce',
    { access_token: '00Dxx!AQ' },
    {},
    /allowMalformedAccessToken/,
  ],
] as const) {
  test(`${title} is told with its Filter, and one may begin again`, async () => {
    grant(members, claims);
    const back = await comeBack('odd', withCode);
    assert.equal(back.status, 502);
    assert.match(back.body, /Start again/);
    const line = told();
    assert.equal(line.realm, 'odd.default');
    assert.match(line.reason, reason);
  });
}

test('an error page of the provider as HTML, and a 429, are told with status and place', async () => {
  for (const status of [400, 403, 429, 500]) {
    lines.length = 0;
    const headers = { 'content-type': 'text/html', 'retry-after': '7' };
    provider.behave('token', () => ({ status, headers, body: '<html>'.repeat(10_000) }));
    assert.equal((await comeBack('odd', withCode)).status, 502);
    const { realm, reason } = told();
    assert.deepEqual(
      [realm, reason],
      ['odd.default', `the token endpoint ${provider.issuer}/token: status ${status}`],
    );
  }
});

test('what the provider sends the browser back with is told, in its words', async () => {
  const back = await comeBack('odd', () => ({
    error: 'invalid_scope',
    error_description: 'Invalid scopes: openid profile',
  }));
  assert.equal(back.status, 502);
  const { realm, reason } = told();
  assert.deepEqual(
    [realm, reason],
    [
      'odd.default',
      'the provider sent the browser back with invalid_scope, saying "Invalid scopes: openid profile"',
    ],
  );
});

test('an error that comes back without state is told to its user and of its Filter', async () => {
  const back = await comeBack('odd', () => ({ state: '', error: 'access_denied' }));
  assert.equal(back.status, 403);
  assert.match(back.body, /You were denied access/);
  const { realm, reason } = told();
  assert.deepEqual(
    [realm, reason],
    ['odd.default', 'the provider sent the browser back with access_denied and without `state`'],
  );
});

test('a scope that was not granted is told by its name', async () => {
  grant({ scope: 'openid' }, {});
  const back = await comeBack('odd', withCode);
  lines.length = 0;
  const page = await envoy.ask('/odd', {
    host: HOST,
    headers: { cookie: cookiesOf(back.headers) },
  });
  assert.equal(page.status, 403);
  const [line = ''] = lines;
  assert.match(JSON.parse(line).reason, /`scope` profile .*not granted/);
});
