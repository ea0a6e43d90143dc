import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { UnsecuredJWT } from 'jose';
import { askConnect } from '#envoy/e2e/extended-connect.ts';
import { askUpgrade, openWebSocket } from '#envoy/e2e/web-socket.ts';
import { startWebSocketUpstream, type WebSocketUpstream } from '#envoy/e2e/websocket-upstream.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { openStoreKey } from '#ext-authz/store/store-key.ts';
import { webClient } from '../testing/oidc-clients.ts';
import { type OidcProvider, startOidcProvider } from '../testing/oidc-provider.ts';
import { edgeSession } from './edge-session.ts';
import { type GuardedEnvoy, startGuarded } from './guarded-envoy.ts';
import { openKit } from './open-kit.ts';
import { openStore } from './open-store.ts';

const SECRET = 's'.repeat(40);
const HOST = 'site.test:8080';
const ORIGIN = `http://${HOST}`;
const ALICE = { username: 'alice', password: 'wonder land' };

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

const resources = (issuer: string, port: number) =>
  [
    document(
      'Filter',
      'login',
      `{OAuth2: {authorizationURL: '${issuer}', clientID: web, secret: ${SECRET}, protectedOrigins: [{origin: '${ORIGIN}'}],
        injectRequestHeaders: [{name: X-User, value: '{{ .idToken.Claims.sub }}'}]}}`,
    ),
    document(
      'Filter',
      'tokens',
      `{JWT: {validAlgorithms: [none], injectRequestHeaders: [{name: X-User, value: '{{ .token.Claims.sub }}'}]}}`,
    ),
    document(
      'FilterPolicy',
      'site',
      `{rules: [{path: /tokens/*, filters: [{name: tokens}]}, {path: /refused/*, filters: [{name: missing}]},
        {path: '*', filters: [{name: login}]}]}`,
    ),
    document(
      'Mapping',
      'all',
      `{prefix: /, rewrite: '', service: '127.0.0.1:${port}', allow_upgrade: [websocket]}`,
    ),
    document(
      'Mapping',
      'open',
      `{prefix: /open/, service: '127.0.0.1:${port}', allow_upgrade: [websocket], bypass_auth: true}`,
    ),
  ].join('');

describe('filters decide about a request for a WebSocket', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ext-authz-upgrades-'));
  let upstream: WebSocketUpstream;
  let provider: OidcProvider;
  let store: RecordStore;
  let envoy: GuardedEnvoy;
  let base: string;
  before(async () => {
    upstream = await startWebSocketUpstream();
    provider = await startOidcProvider({
      clients: [
        webClient({ client_id: 'web', client_secret: SECRET }, [
          `${ORIGIN}/.gateway/oauth2/redirection-endpoint`,
        ]),
      ],
      users: [ALICE],
    });
    store = await openStore(folder);
    const kit = openKit(store, openStoreKey(folder, randomBytes));
    envoy = await startGuarded(resources(provider.issuer, upstream.port), kit);
    base = `http://127.0.0.1:${envoy.port}`;
  });
  after(async () => {
    await envoy.stop();
    await store.close();
    await provider.close();
    await upstream.close();
    rmSync(folder, { recursive: true });
  });

  const token = (sub: string) => `Bearer ${new UnsecuredJWT({ sub }).encode()}`;

  for (const [what, path, headers, status] of [
    ['without a token', '/tokens/', {}, 401],
    ['with a bad one', '/tokens/', { authorization: 'Bearer e30.e30.' }, 401],
    ['without a session', '/page', {}, 401],
    [
      'with a session of nobody',
      '/page',
      { cookie: `gateway_session.login.default=${'0'.repeat(64)}` },
      401,
    ],
    ['where the Filter is missing', '/refused/', { authorization: token('alice') }, 500],
  ] as const) {
    test(`${what} it is answered ${status}, and the service does not see it`, async () => {
      const seen = upstream.asked().length;
      const answer = await askUpgrade(base, path, 'websocket', { host: HOST, ...headers });
      answer.socket?.destroy();
      assert.equal(answer.status, status);
      assert.equal(answer.headers['set-cookie'], undefined);
      assert.equal(upstream.asked().length, seen);
    });
  }

  test('over HTTP/2 too', async () => {
    const { status } = await askConnect(base, { path: '/tokens/', protocol: 'websocket' });
    assert.equal(status, 401);
  });

  test('with a token it opens, and what the filter injects reaches the service', async () => {
    const headers = { authorization: token('alice'), 'x-user': 'root' };
    const socket = await openWebSocket(base, '/tokens/', headers);
    assert.equal(await socket.echo('hello'), 'hello');
    assert.equal(upstream.asked().at(-1)?.headers['x-user'], 'alice');
    socket.close();
  });

  test('with the session of a user who is logged in it opens, and the cookie stays at the gateway', async () => {
    const cookie = await edgeSession(base, '/page', ALICE, HOST);
    const answer = await askUpgrade(base, '/page', 'websocket', { host: HOST, cookie });
    answer.socket?.destroy();
    assert.equal(answer.status, 101);
    const { headers } = upstream.asked().at(-1) ?? {};
    assert.equal(headers?.['x-user'], 'alice');
    assert.match(headers?.cookie ?? '', /^gateway_xsrf\.login\.default=[^;]*$/);
  });

  test('with `bypass_auth` they do not', async () => {
    const answer = await askUpgrade(base, '/open/', 'websocket', { host: HOST, 'x-user': 'root' });
    answer.socket?.destroy();
    assert.equal(answer.status, 101);
    assert.equal(upstream.asked().at(-1)?.headers['x-user'], undefined);
  });
});
