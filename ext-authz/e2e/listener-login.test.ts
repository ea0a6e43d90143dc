import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webClient } from '../testing/oidc-clients.ts';
import { type OidcProvider, startOidcProvider } from '../testing/oidc-provider.ts';
import { edgeSession } from './edge-session.ts';
import { filterRef, guardedGateway, jwt, own, site } from './guarded-gateway.ts';

const SECRET = 's'.repeat(40);
const HOST = 'site.test';
const ORIGIN = `http://${HOST}`;
const [ALICE, BOB] = ['alice', 'bob'].map(username => ({ username, password: 'wonder land' }));

let provider: OidcProvider;

const rule = (name: string, path: string, header = '', filters = '') =>
  `{matches: [{path: {value: ${path}}, headers: [${header}]}], filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: x-route, value: ${name}}]}}, ${filters}], backendRefs: [{name: up, port: 80}]}`;

const gateway = guardedGateway(
  () =>
    [
      own(
        'Filter',
        'login',
        `{OAuth2: {authorizationURL: '${provider.issuer}', clientID: web, secretName: web, protectedOrigins: [{origin: '${ORIGIN}'}],
          injectRequestHeaders: [{name: X-User, value: '{{ .idToken.Claims.sub }}'}]}}`,
      ),
      own('Filter', 'keys', `{JWT: {jwksURI: 'http://127.0.0.1:1/keys'}}`),
      jwt('token'),
      `---\napiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {oauth2-client-secret: ${SECRET}}\n`,
      site(
        [
          `{name: login, port: 8000, protocol: HTTP, hostname: ${HOST}, filters: {requests: [${filterRef('login')}]}}`,
          `{name: keys, port: 8000, protocol: HTTP, hostname: keys.test, filters: {requests: [${filterRef('keys')}]}}`,
        ],
        [
          rule('alice', '/', '{name: x-user, value: alice}'),
          rule('other', '/'),
          rule('twice', '/twice', '', filterRef('login')),
        ],
      ),
    ].join(''),
  async () => {
    const client = { client_id: 'web', client_secret: SECRET };
    provider = await startOidcProvider({
      clients: [webClient(client, [`${ORIGIN}/.gateway/oauth2/redirection-endpoint`])],
      users: [ALICE ?? assert.fail(), BOB ?? assert.fail()],
    });
    return { provider: { address: '127.0.0.1:1', close: () => provider.close() } };
  },
);

const session = (user = ALICE) =>
  edgeSession(`http://127.0.0.1:${gateway.envoy().port}`, '/app', user ?? assert.fail(), HOST);

test('a login at the listener chooses the route, by whoever logged in', async () => {
  const cookies = { alice: await session(ALICE), bob: await session(BOB) };
  for (const [user, route] of [
    ['alice', 'alice'],
    ['bob', 'other'],
  ] as const) {
    const headers = { cookie: `a=1; ${cookies[user]}`, 'x-user': 'alice' };
    const answer = await gateway.ask('/app', { host: HOST, headers });
    assert.deepEqual([answer.status, answer.headers['x-route']], [200, route]);
    const { headers: got } = JSON.parse(answer.body) as { headers: Record<string, string> };
    assert.equal(got['x-user'], user);
    assert.match(got.authorization ?? '', /^Bearer /);
    assert.match(got.cookie ?? '', /^a=1; gateway_xsrf\.login\.default=[^;]*$/);
  }
});

test('a rule may ask for the same login again', async () => {
  const headers = { cookie: await session() };
  const answer = await gateway.ask('/twice', { host: HOST, headers });
  assert.deepEqual([answer.status, answer.headers['x-route']], [200, 'twice']);
  const { headers: got } = JSON.parse(answer.body) as { headers: Record<string, string> };
  assert.doesNotMatch(got.cookie ?? '', /gateway_session/);
});

test('a value of the xsrf cookie that the session does not have goes nowhere', async () => {
  const cookie = `${await session()}; gateway_xsrf.login.default=planted`;
  const { headers } = await gateway.echo('/app', { host: HOST, headers: { cookie } });
  assert.doesNotMatch(headers.cookie ?? '', /planted|gateway_session/);
});

test('nobody passes by the keys of a provider that is down', async () => {
  const part = (text: string) => Buffer.from(text).toString('base64url');
  const token = [part('{"alg":"RS256","kid":"a"}'), part('{"sub":"ada"}'), part('signed')].join(
    '.',
  );
  const headers = { authorization: `Bearer ${token}`, 'x-user': 'alice' };
  const answer = await gateway.ask('/app', { host: 'keys.test', headers });
  assert.deepEqual([answer.status, answer.headers['x-route']], [502, undefined]);
});
