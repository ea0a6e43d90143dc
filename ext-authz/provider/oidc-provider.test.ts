import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { after, before, type TestContext, test } from 'node:test';
import { importPKCS8, SignJWT } from 'jose';
import { logIn } from '#ext-authz/testing/log-in.ts';
import { machineClient, passwordClient, webClient } from '#ext-authz/testing/oidc-clients.ts';
import {
  type OidcProvider,
  RESOURCE,
  startOidcProvider,
} from '#ext-authz/testing/oidc-provider.ts';
import {
  openTestProvider,
  providerError,
  type TestProvider,
} from '#ext-authz/testing/open-test-provider.ts';
import { assertionSettings, secretOf } from '#ext-authz/testing/provider-settings.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import type { ProviderSettings } from './settings.ts';

const CALLBACK = 'http://app.test/.gateway/oauth2/redirection-endpoint';
const ALICE = {
  username: 'alice',
  password: 'wonder land&é',
  claims: { email: 'alice@example.com' },
};
const ODD = { client_id: 'odd:client +%', client_secret: 'o:d d+%&=/~"<>'.repeat(3) };
const LONG = 's'.repeat(64);

const pem = (key: ReturnType<typeof generateKeyPairSync>['privateKey']) =>
  key.export({ format: 'pem', type: 'pkcs8' }).toString();
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const jwksOf = (key: typeof rsa.publicKey) => ({
  keys: [{ ...key.export({ format: 'jwk' }), kty: key.asymmetricKeyType === 'ec' ? 'EC' : 'RSA' }],
});

let real: OidcProvider;
before(async () => {
  real = await startOidcProvider({
    users: [ALICE],
    jwtClients: ['jwt', 'machine-jwt'],
    scopes: ['read', 'write'],
    clients: [
      webClient({ client_id: 'basic', client_secret: LONG }, [CALLBACK]),
      webClient({ client_id: 'jwt', client_secret: LONG }, [CALLBACK]),
      webClient({ client_id: 'post', client_secret: LONG }, [CALLBACK], 'client_secret_post'),
      webClient({ client_id: 'secret-jwt', client_secret: LONG }, [CALLBACK], 'client_secret_jwt'),
      {
        ...webClient({ client_id: 'rsa' }, [CALLBACK], 'private_key_jwt'),
        jwks: jwksOf(rsa.publicKey),
      },
      {
        ...webClient({ client_id: 'ec' }, [CALLBACK], 'private_key_jwt'),
        jwks: jwksOf(ec.publicKey),
      },
      passwordClient({ client_id: 'password', client_secret: LONG }),
      machineClient({ client_id: 'machine', client_secret: LONG }),
      machineClient({ client_id: 'machine-jwt', client_secret: LONG }),
      machineClient(ODD),
      {
        ...machineClient({ client_id: 'machine-rsa' }, 'private_key_jwt'),
        jwks: jwksOf(rsa.publicKey),
      },
    ],
  });
});
after(() => real.close());

const openClient = (t: TestContext, clientID: string, changes: Partial<ProviderSettings> = {}) =>
  openTestProvider(t, real, { clientID, secret: secretOf(LONG), ...changes });

/** A whole login. */
async function login(provider: TestProvider, scope: readonly string[] = ['openid', 'email']) {
  const codeVerifier = randomBytes(32).toString('base64url');
  const request = {
    redirectUri: CALLBACK,
    scope,
    state: 'state',
    nonce: 'n-1',
    codeVerifier,
    extra: {},
  };
  const callback = await logIn(await provider.authorizationUrl(request, soon()), ALICE, CALLBACK);
  assert.equal(callback.searchParams.get('state'), 'state');
  const { code = '', iss } = Object.fromEntries(callback.searchParams);
  const exchange = { code, iss, redirectUri: CALLBACK, codeVerifier, nonce: 'n-1' };
  return { exchange, tokens: await provider.exchangeCode(exchange, soon()) };
}

test('a login gives an ID token, an opaque access token for userinfo, and the scope', async t => {
  const provider = openClient(t, 'basic');
  const { tokens } = await login(provider);
  assert.equal(tokens.idToken.claims.sub, 'alice');
  assert.deepEqual(tokens.scope, ['openid', 'email']);
  assert.equal(await provider.verify(tokens.accessToken, ['RS256'], soon()), 'malformed');
  const claims = await provider.userinfo(
    { accessToken: tokens.accessToken, subject: 'alice' },
    soon(),
  );
  assert.deepEqual(claims, { sub: 'alice', email: 'alice@example.com' });
});

test('a JWT access token is verified with the provider’s keys', async t => {
  const provider = openClient(t, 'jwt');
  const { tokens } = await login(provider, ['openid', 'read']);
  const token = await provider.verify(tokens.accessToken, ['RS256'], soon());
  assert.ok(typeof token !== 'string');
  assert.deepEqual(
    [token.claims.iss, token.claims.aud, token.claims.scope],
    [real.issuer, RESOURCE, 'openid read'],
  );
});

test('a code works once', async t => {
  const provider = openClient(t, 'basic');
  const { exchange } = await login(provider);
  const again = provider
    .exchangeCode(exchange, soon())
    .catch(error => [error.code, error.oauthError]);
  assert.deepEqual(await again, ['oauth_error', 'invalid_grant']);
});

test('a code works only with its code verifier', async t => {
  const provider = openClient(t, 'basic');
  const codeVerifier = 'v'.repeat(43);
  const request = {
    redirectUri: CALLBACK,
    scope: ['openid'],
    state: 's',
    nonce: 'n',
    codeVerifier,
    extra: {},
  };
  const callback = await logIn(await provider.authorizationUrl(request, soon()), ALICE, CALLBACK);
  const { code = '', iss } = Object.fromEntries(callback.searchParams);
  const exchange = { code, iss, redirectUri: CALLBACK, codeVerifier: 'w'.repeat(43), nonce: 'n' };
  await assert.rejects(
    provider.exchangeCode(exchange, soon()),
    providerError('oauth_error', 'invalid_grant'),
  );
});

test('the real provider promises iss, and its callback has it', async t => {
  const provider = openClient(t, 'basic');
  assert.equal(
    (await provider.metadata(soon())).authorization_response_iss_parameter_supported,
    true,
  );
  assert.equal((await login(provider)).exchange.iss, real.issuer);
});

test('a refresh gives new tokens of the same login, and the refresh token rotates and works once', async t => {
  const provider = openClient(t, 'basic');
  const { tokens } = await login(provider);
  const request = { refreshToken: tokens.refreshToken ?? '', previous: tokens.idToken.claims };
  const next = await provider.refresh(request, soon());
  assert.notEqual(next.accessToken, tokens.accessToken);
  assert.notEqual(next.refreshToken, tokens.refreshToken);
  assert.equal(next.idToken?.claims.sub, 'alice');
  await assert.rejects(
    provider.refresh(request, soon()),
    providerError('oauth_error', 'invalid_grant'),
  );
});

test('BodyPassword logs in', async t => {
  const { tokens } = await login(
    openClient(t, 'post', { clientAuthentication: { method: 'BodyPassword' } }),
  );
  assert.equal(tokens.idToken.claims.aud, 'post');
});

for (const [clientID, signingMethod, secret] of [
  ['secret-jwt', 'HS256', LONG],
  ['secret-jwt', 'HS384', LONG],
  ['secret-jwt', 'HS512', LONG],
  ['rsa', 'RS256', pem(rsa.privateKey)],
  ['rsa', 'PS384', pem(rsa.privateKey)],
  ['ec', 'ES384', pem(ec.privateKey)],
] as const) {
  test(`JWTAssertion with ${signingMethod} logs in`, async t => {
    const jwtAssertion = assertionSettings({ signingMethod, setIAT: true, setNBF: true });
    const clientAuthentication = { method: 'JWTAssertion', jwtAssertion } as const;
    const provider = openClient(t, clientID, { clientAuthentication, secret: secretOf(secret) });
    assert.equal((await login(provider)).tokens.idToken.claims.aud, clientID);
  });
}

test('a wrong client secret is invalid_client', async t => {
  const provider = openClient(t, 'basic', { secret: secretOf('wrong') });
  await assert.rejects(login(provider), providerError('oauth_error', 'invalid_client'));
});

test('a password grant gives a token for its user', async t => {
  const provider = openClient(t, 'password');
  const tokens = await provider.password({ ...ALICE, scope: ['openid', 'email'] }, soon());
  assert.deepEqual(tokens.scope, ['email', 'openid']);
  const { sub } = await provider.userinfo(
    { accessToken: tokens.accessToken, subject: undefined },
    soon(),
  );
  assert.equal(sub, 'alice');
});

test('a wrong password is invalid_grant', async t => {
  const outcome = openClient(t, 'password').password(
    { username: 'alice', password: 'no', scope: [] },
    soon(),
  );
  await assert.rejects(outcome, providerError('oauth_error', 'invalid_grant'));
});

for (const [clientID, secret] of [
  ['machine', LONG],
  [ODD.client_id, ODD.client_secret],
] as const) {
  test(`client credentials of ${clientID} give a token`, async t => {
    const provider = openTestProvider(t, real, { clientID: undefined, secret: undefined });
    const credentials = { kind: 'password', clientID, secret } as const;
    const tokens = await provider.clientCredentials({ credentials, scope: ['read'] }, soon());
    assert.deepEqual(
      [tokens.tokenType, tokens.expiresInSeconds, tokens.scope],
      ['Bearer', 3_600, ['read']],
    );
  });
}

test('client credentials give a JWT access token', async t => {
  const provider = openTestProvider(t, real, { clientID: undefined, secret: undefined });
  const credentials = { kind: 'password', clientID: 'machine-jwt', secret: LONG } as const;
  const { accessToken } = await provider.clientCredentials(
    { credentials, scope: ['read'] },
    soon(),
  );
  const token = await provider.verify(accessToken, ['RS256'], soon());
  assert.ok(typeof token !== 'string');
  assert.equal(token.claims.client_id, 'machine-jwt');
});

test('client credentials by an assertion of the client’s own', async t => {
  const provider = openTestProvider(t, real, {
    ...{ clientID: undefined, secret: undefined },
    clientAuthentication: { method: 'JWTAssertion', jwtAssertion: assertionSettings() },
  });
  const assertion = await new SignJWT({ jti: randomBytes(8).toString('hex') })
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuer('machine-rsa')
    .setSubject('machine-rsa')
    .setAudience(`${real.issuer}/token`)
    .setExpirationTime('1m')
    .sign(await importPKCS8(pem(rsa.privateKey), 'RS256'));
  const credentials = { kind: 'assertion', assertion } as const;
  assert.equal(
    (await provider.clientCredentials({ credentials, scope: [] }, soon())).tokenType,
    'Bearer',
  );
  const replayed = provider.clientCredentials({ credentials, scope: [] }, soon());
  await assert.rejects(replayed, providerError('oauth_error', 'invalid_client'));
});

test('an access token that the provider does not know is invalid_token', async t => {
  const outcome = openClient(t, 'basic').userinfo(
    { accessToken: 'unknown', subject: 'alice' },
    soon(),
  );
  await assert.rejects(outcome, providerError('oauth_error', 'invalid_token'));
});

test('a logout URL is one that the provider takes', async t => {
  const provider = openClient(t, 'basic');
  const { tokens } = await login(provider);
  const url = (await provider.endSessionUrl({ idTokenHint: tokens.idToken.raw }, soon())) ?? '';
  const response = await fetch(url, { redirect: 'manual' });
  assert.equal(response.status, 200);
  await response.body?.cancel();
});
