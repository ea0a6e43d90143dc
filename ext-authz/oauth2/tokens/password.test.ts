import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { faultOf } from '#ext-authz/chain/fault.ts';
import { headerTemplates } from '#ext-authz/jwt/testing/jwt-settings.ts';
import { answerOf, setBy } from '#ext-authz/jwt/testing/requests.ts';
import { openCredentialFilter } from '#ext-authz/oauth2/testing/credential-filter.ts';
import { type HostileProvider, startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { machineClient, passwordClient } from '#ext-authz/testing/oidc-clients.ts';
import { type OidcProvider, startOidcProvider } from '#ext-authz/testing/oidc-provider.ts';
import { secretOf } from '#ext-authz/testing/provider-settings.ts';

const SECRET = 's'.repeat(40);
const ALICE = { username: 'alice', password: 'wonder länd' };
const LOGIN = { 'x-gateway-username': 'alice', 'x-gateway-password': 'wonder länd' };
const GRANT = { grantType: 'Password' } as const;

let hostile: HostileProvider;
let real: OidcProvider;
before(async () => {
  const client = { client_secret: SECRET };
  [hostile, real] = await Promise.all([
    startHostileProvider(),
    startOidcProvider({
      clients: [
        passwordClient({ client_id: 'people', ...client }),
        machineClient({ client_id: 'machine', ...client }),
      ],
      users: [ALICE],
      jwtClients: ['machine'],
      scopes: ['read'],
    }),
  ]);
});
after(() => Promise.all([hostile.close(), real.close()]));
beforeEach(() => hostile.reset());

const asked = () => hostile.asked('token').length;

test('user name and password are exchanged by the Filter as its own client', async t => {
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  assert.equal(setBy(await run(LOGIN, ['openid'])).authorization, 'Bearer access');
  const [request] = hostile.asked('token');
  assert.equal(
    request?.headers.authorization,
    `Basic ${Buffer.from('client:secret').toString('base64')}`,
  );
  assert.deepEqual(Object.fromEntries(request?.form ?? []), {
    grant_type: 'password',
    username: 'alice',
    password: 'wonder länd',
    scope: 'openid',
  });
});

test('every request must bring both headers', async t => {
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  setBy(await run(LOGIN));
  for (const headers of [
    {},
    { 'x-gateway-username': 'alice' },
    { 'x-gateway-password': 'wonder länd' },
  ])
    assert.equal(answerOf(await run(headers)).status, 403);
});

test('a refresh token is neither stored nor used: the grant is made again', async t => {
  hostile.behave('token', async () => ({
    body: await hostile.tokens({ refresh_token: 'refresh-me', expires_in: 60 }),
  }));
  const { run, pass } = await openCredentialFilter(t, hostile.issuer, GRANT);
  setBy(await run(LOGIN));
  pass(60_000);
  setBy(await run(LOGIN));
  assert.deepEqual(
    hostile.asked('token').map(({ form }) => form.get('grant_type')),
    ['password', 'password'],
  );
});

test('the ID token is there for templates, from the cache of another replica too', async t => {
  const injectRequestHeaders = headerTemplates([['x-sub', '{{ .idToken.Claims.sub }}']]);
  const { run, replica } = await openCredentialFilter(t, hostile.issuer, {
    ...GRANT,
    injectRequestHeaders,
  });
  for (const one of [run, replica()]) assert.equal(setBy(await one(LOGIN))['x-sub'], 'alice');
  assert.equal(asked(), 1);
});

test('userinfo must be about the user of the ID token', async t => {
  hostile.behave('userinfo', () => ({ body: { sub: 'mallory' } }));
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  assert.match(answerOf(await run(LOGIN)).body, /userinfo is about another user/);
});

test('a refused user is 403 and counted, and a refused client of the Filter is a fault and not counted', async t => {
  hostile.behave('token', () => ({ status: 400, body: { error: 'invalid_grant' } }));
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  const guess = (password: string) => run({ ...LOGIN, 'x-gateway-password': password });
  for (let n = 0; n < 5; n += 1) assert.equal(answerOf(await guess(`${n}`)).status, 403);
  assert.equal(answerOf(await guess('next')).status, 429);
  hostile.behave('token', () => ({ status: 401, body: { error: 'invalid_client' } }));
  const other = await openCredentialFilter(t, hostile.issuer, GRANT);
  for (let n = 0; n < 7; n += 1)
    await assert.rejects(other.run(LOGIN), error => faultOf(error) === 'provider');
});

for (const [who, status, error] of [
  ['Dex', 401, 'access_denied'],
  ['UAA', 401, 'unauthorized'],
  ['Entra', 400, 'interaction_required'],
  ['Auth0', 403, 'mfa_required'],
] as const) {
  test(`a user that ${who} refuses with ${error} is 403 and counted`, async t => {
    hostile.behave('token', () => ({ status, body: { error } }));
    const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
    const guess = (password: string) => run({ ...LOGIN, 'x-gateway-password': password });
    for (let n = 0; n < 5; n += 1) assert.equal(answerOf(await guess(`${n}`)).status, 403);
    assert.equal(answerOf(await guess('next')).status, 429);
  });
}

test('users are not mixed up', async t => {
  hostile.behave('token', async ({ form }) => {
    const access_token = `token-of-${form.get('username')}`;
    return { body: { access_token, token_type: 'Bearer', expires_in: 60 } };
  });
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  const names = Array.from({ length: 200 }, (_, n) => `user-${n % 50}`);
  const outcomes = await Promise.all(
    names.map(name => run({ 'x-gateway-username': name, 'x-gateway-password': 'p' })),
  );
  assert.deepEqual(
    outcomes.map(outcome => setBy(outcome).authorization),
    names.map(name => `Bearer token-of-${name}`),
  );
  assert.equal(asked(), 50);
});

const client = (clientID: string) => ({ clientID, secret: secretOf(SECRET) });

test('a certified provider: a user passes, a wrong password does not', async t => {
  const { run } = await openCredentialFilter(t, real.issuer, { ...GRANT, ...client('people') });
  const { authorization } = setBy(await run(LOGIN, ['openid']));
  assert.match(authorization ?? '', /^Bearer [\w-]+$/);
  assert.equal(
    answerOf(await run({ ...LOGIN, 'x-gateway-password': 'wonder land' }, ['openid'])).status,
    403,
  );
});

test('a certified provider: a client passes with a JWT of the scope, another secret does not', async t => {
  const { run } = await openCredentialFilter(t, real.issuer, { grantType: 'ClientCredentials' });
  const headers = { 'x-gateway-client-id': 'machine', 'x-gateway-client-secret': SECRET };
  assert.match(
    setBy(await run(headers, ['read'])).authorization ?? '',
    /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/,
  );
  assert.equal(answerOf(await run(headers, ['read', 'write'])).status, 403);
  assert.equal(
    answerOf(await run({ ...headers, 'x-gateway-client-secret': 'x' }, ['read'])).status,
    403,
  );
});
