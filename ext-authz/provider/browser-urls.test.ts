import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { type HostileProvider, startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import {
  EXCHANGE,
  openTestProvider,
  providerError,
} from '#ext-authz/testing/open-test-provider.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { endSessionUrl } from './browser-calls.ts';

let hostile: HostileProvider;
before(async () => {
  hostile = await startHostileProvider();
});
after(() => hostile.close());
beforeEach(() => hostile.reset());

const announce = (changes: object) =>
  hostile.behave('discovery', () => ({ body: { ...hostile.discovery(), ...changes } }));

const REQUEST = {
  redirectUri: EXCHANGE.redirectUri,
  scope: ['profile', 'openid', 'profile'],
  state: 'the state',
  nonce: 'the nonce',
  codeVerifier: EXCHANGE.codeVerifier,
  extra: {},
};

test('the authorization request has code, client, redirect, sorted scope, state, nonce and PKCE S256', async t => {
  const url = new URL(await openTestProvider(t, hostile).authorizationUrl(REQUEST, soon()));
  assert.equal(url.origin + url.pathname, `${hostile.issuer}/authorize`);
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    response_type: 'code',
    client_id: 'client',
    redirect_uri: EXCHANGE.redirectUri,
    scope: 'openid profile',
    state: 'the state',
    nonce: 'the nonce',
    code_challenge: createHash('sha256').update(EXCHANGE.codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
});

test('extra parameters are added, and replace none of ours in any letter case', async t => {
  const extra = {
    prompt: 'login',
    audience: 'a b&c',
    state: 'evil',
    NONCE: 'evil',
    Code_Challenge: 'evil',
  };
  const url = await openTestProvider(t, hostile).authorizationUrl({ ...REQUEST, extra }, soon());
  const { searchParams } = new URL(url);
  assert.deepEqual([searchParams.get('prompt'), searchParams.get('audience')], ['login', 'a b&c']);
  assert.ok(!url.includes('evil'));
});

test('a query of the endpoint stays, but replaces none of ours', async t => {
  announce({
    authorization_endpoint: `${hostile.issuer}/authorize?tenant=7&state=evil&state=worse`,
  });
  const { searchParams } = new URL(
    await openTestProvider(t, hostile).authorizationUrl(REQUEST, soon()),
  );
  assert.deepEqual(
    [searchParams.get('tenant'), searchParams.getAll('state')],
    ['7', ['the state']],
  );
});

test('logout: id_token_hint, client_id, and what is asked for', async t => {
  const provider = openTestProvider(t, hostile);
  const plain = await provider.endSessionUrl({ idTokenHint: 'hint' }, soon());
  assert.equal(plain, `${hostile.issuer}/logout?id_token_hint=hint&client_id=client`);
  const request = {
    idTokenHint: 'hint',
    state: 's',
    postLogoutRedirectURI: 'https://app.test/bye?x=1',
  };
  const { searchParams } = new URL((await provider.endSessionUrl(request, soon())) ?? '');
  assert.deepEqual(
    [searchParams.get('post_logout_redirect_uri'), searchParams.get('state')],
    ['https://app.test/bye?x=1', 's'],
  );
});

test('logout: an ID token that would make the address too long for the provider is left out', async t => {
  const endSessionUrl = (length: number) =>
    openTestProvider(t, hostile).endSessionUrl({ idTokenHint: 'h'.repeat(length) }, soon());
  assert.match((await endSessionUrl(6_000)) ?? '', /\?id_token_hint=h+&client_id=client$/);
  assert.equal(await endSessionUrl(6_001), `${hostile.issuer}/logout?client_id=client`);
});

test('logout: Cognito is told where to go on by the name that it knows, too', () => {
  const end_session_endpoint = 'https://site.auth.eu-west-1.amazoncognito.com/logout';
  const request = { idTokenHint: 'h', postLogoutRedirectURI: 'https://app.test/bye' };
  const cognito = {
    end_session_endpoint,
    issuer: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Pool',
  };
  const parameters = (url = '') => Object.fromEntries(new URL(url).searchParams);
  const told = {
    id_token_hint: 'h',
    client_id: 'client',
    post_logout_redirect_uri: 'https://app.test/bye',
  };
  assert.deepEqual(parameters(endSessionUrl(cognito, 'client', request)), {
    ...told,
    logout_uri: 'https://app.test/bye',
  });
  const other = { ...cognito, issuer: 'https://idp.test/cognito-idp.eu-west-1.amazonaws.com/' };
  assert.deepEqual(parameters(endSessionUrl(other, 'client', request)), told);
});

test('a provider without end_session_endpoint has no logout', async t => {
  announce({ end_session_endpoint: undefined });
  assert.equal(
    await openTestProvider(t, hostile).endSessionUrl({ idTokenHint: 'hint' }, soon()),
    undefined,
  );
});

test('the code is exchanged with redirect_uri and code_verifier', async t => {
  await openTestProvider(t, hostile).exchangeCode({ ...EXCHANGE, code: 'c&=+ %ü' }, soon());
  assert.deepEqual(Object.fromEntries(hostile.asked('token')[0]?.form ?? []), {
    redirect_uri: EXCHANGE.redirectUri,
    code: 'c&=+ %ü',
    code_verifier: EXCHANGE.codeVerifier,
    grant_type: 'authorization_code',
  });
});

test('redirect_uri is the same text in both requests, also when it is not written in the usual form', async t => {
  const redirectUri = 'HTTPS://App.test:443/callback';
  const provider = openTestProvider(t, hostile);
  const url = new URL(await provider.authorizationUrl({ ...REQUEST, redirectUri }, soon()));
  await provider.exchangeCode({ ...EXCHANGE, redirectUri }, soon());
  assert.equal(
    hostile.asked('token')[0]?.form.get('redirect_uri'),
    url.searchParams.get('redirect_uri'),
  );
});

for (const iss of ['https://evil.test', '', 'trailing slash'] as const) {
  test(`iss ${JSON.stringify(iss)} is refused before the code is sent anywhere`, async t => {
    const wrong = iss === 'trailing slash' ? `${hostile.issuer}/` : iss;
    const provider = openTestProvider(t, hostile);
    await assert.rejects(
      provider.exchangeCode({ ...EXCHANGE, iss: wrong }, soon()),
      providerError('issuer_mismatch'),
    );
    await assert.rejects(provider.checkIssuer(wrong, soon()), providerError('issuer_mismatch'));
    assert.equal(hostile.asked('token').length, 0);
  });
}

test('a missing iss is refused when the provider promises it', async t => {
  announce({ authorization_response_iss_parameter_supported: true });
  const provider = openTestProvider(t, hostile);
  await assert.rejects(
    provider.exchangeCode(EXCHANGE, soon()),
    providerError('issuer_mismatch', 'promises'),
  );
  assert.equal(hostile.asked('token').length, 0);
});

test('the right iss is accepted, promised or not', async t => {
  const provider = openTestProvider(t, hostile);
  assert.ok(await provider.exchangeCode({ ...EXCHANGE, iss: hostile.issuer }, soon()));
  announce({ authorization_response_iss_parameter_supported: true });
  const promised = openTestProvider(t, hostile);
  assert.ok(await promised.exchangeCode({ ...EXCHANGE, iss: hostile.issuer }, soon()));
});
