import assert from 'node:assert/strict';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import {
  type HostileAnswer,
  type HostileProvider,
  startHostileProvider,
} from '#ext-authz/testing/hostile-provider.ts';
import {
  EXCHANGE,
  openTestProvider,
  providerError,
} from '#ext-authz/testing/open-test-provider.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { ProviderError, type ProviderErrorCode } from './provider-error.ts';

let hostile: HostileProvider;
before(async () => {
  hostile = await startHostileProvider();
});
after(() => hostile.close());
beforeEach(() => hostile.reset());

function answering(t: TestContext, answer: HostileAnswer) {
  hostile.behave('token', () => answer);
  const credentials = { kind: 'password', clientID: 'machine', secret: 'machine secret' } as const;
  return openTestProvider(t, hostile).clientCredentials({ credentials, scope: [] }, soon());
}

const DEEP = '['.repeat(20_000) + ']'.repeat(20_000);

const granting = (t: TestContext, body: object) =>
  answering(t, { body: { access_token: 'access', token_type: 'Bearer', ...body } });

function refuses(
  title: string,
  answer: HostileAnswer,
  code: ProviderErrorCode,
  text: RegExp | string = '',
) {
  test(title, t => assert.rejects(answering(t, answer), providerError(code, text)));
}

test('a grant gives its tokens', async t => {
  const tokens = await granting(t, {
    token_type: 'bEARER',
    expires_in: 60,
    scope: 'a  b',
    refresh_token: 'refresh',
  });
  assert.deepEqual(tokens, {
    accessToken: 'access',
    tokenType: 'Bearer',
    expiresInSeconds: 60,
    scope: ['a', 'b'],
    refreshToken: 'refresh',
  });
});

test('a bare grant says nothing of lifetime, scope and refresh', async t => {
  const tokens = await granting(t, {});
  assert.deepEqual(tokens, {
    accessToken: 'access',
    tokenType: 'Bearer',
    expiresInSeconds: undefined,
    scope: undefined,
  });
});

test('an empty scope grants nothing', async t =>
  assert.deepEqual((await granting(t, { scope: '' })).scope, []));

test('a scope may be a list', async t =>
  assert.deepEqual((await granting(t, { scope: ['openid', 'a'] })).scope, ['openid', 'a']));

test('optional members that are null count as absent', async t => {
  const tokens = await granting(t, { scope: null, refresh_token: null, id_token: null });
  assert.deepEqual([tokens.scope, tokens.refreshToken], [undefined, undefined]);
});

for (const written of ['-1', '0', '1e309', 'null', '{}', '"soon"', '[]', 'true']) {
  test(`expires_in ${written} does not break the grant: one minute`, async t => {
    const tokens = await answering(t, {
      body: `{"access_token":"a","token_type":"Bearer","expires_in":${written}}`,
    });
    assert.equal(tokens.expiresInSeconds, 60);
  });
}

test('the ID token of client credentials is ignored, even a bad one', async t => {
  assert.ok(!('idToken' in (await granting(t, { id_token: 'not.a.token' }))));
});

test('of a repeated member the last counts', async t => {
  const body =
    '{"access_token":"first","access_token":"second","token_type":"mac","token_type":"Bearer"}';
  assert.equal((await answering(t, { body })).accessToken, 'second');
});

test('__proto__ in the answer grants nothing', async t => {
  const body = '{"__proto__":{"access_token":"evil","token_type":"Bearer"}}';
  await assert.rejects(answering(t, { body }), providerError('invalid_answer'));
});

test('an answer nested half a million deep is an answer that is not valid', async t => {
  const body = `{"access_token":"a","token_type":"Bearer","x":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
  await assert.rejects(answering(t, { body }), providerError('invalid_answer'));
});

for (const token_type of ['mac', 'DPoP', 'N_A', '', null, 7, undefined]) {
  test(`token_type ${JSON.stringify(token_type)} is refused`, t =>
    assert.rejects(granting(t, { token_type }), providerError('invalid_answer')));
}
test('an answer without access token says what may be missing', t =>
  assert.rejects(
    granting(t, { access_token: undefined }),
    providerError('invalid_answer', /`access_token`.*`scope` of an API/),
  ));

for (const access_token of ['', null, 7, {}, undefined]) {
  test(`access_token ${JSON.stringify(access_token)} is refused`, t =>
    assert.rejects(granting(t, { access_token }), providerError('invalid_answer')));
}
for (const body of [{ refresh_token: 7 }, { scope: ['a', 7] }, { scope: { a: 1 } }]) {
  test(`${JSON.stringify(body)} is refused`, t =>
    assert.rejects(granting(t, body), providerError('invalid_answer')));
}

refuses('an answer that is no JSON', { body: '<html>' }, 'invalid_answer', 'is not JSON');
refuses('an answer that is cut', { body: '{"access_token":"a"' }, 'invalid_answer', 'is not JSON');
refuses('an answer that is a list', { body: [] }, 'invalid_answer', 'not a JSON object');
refuses('an empty answer', {}, 'invalid_answer', 'is not JSON');
refuses(
  'an answer that is nested too deep',
  {
    headers: { 'content-type': 'application/json' },
    body: `{"access_token":"a","token_type":"Bearer","x":${DEEP}}`,
  },
  'invalid_answer',
  /the token endpoint http.* is nested more than 200 deep/,
);
refuses(
  'JSON as text/html',
  { headers: { 'content-type': 'text/html' }, body: {} },
  'invalid_answer',
  'Content-Type',
);
refuses(
  'an answer that is not UTF-8',
  { body: Buffer.from([0x7b, 0xff, 0x7d]) },
  'invalid_answer',
  'UTF-8',
);
refuses(
  'a status without meaning',
  { status: 503, body: { error: 'temporarily_unavailable' } },
  'http_status',
  '503',
);
refuses(
  '201',
  { status: 201, body: { access_token: 'a', token_type: 'Bearer' } },
  'http_status',
  '201',
);
refuses('a connection that is closed', 'hang up', 'unreachable');
refuses('an answer that breaks off', 'break off', 'unreachable');

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect (${status}) is not followed: neither code nor secret go elsewhere`, async t => {
    const answer = { status, headers: { location: `${hostile.issuer}/userinfo` } };
    await assert.rejects(answering(t, answer), providerError('http_status', 'redirect'));
    assert.equal(hostile.asked('userinfo').length, 0);
  });
}

const large = `{"access_token":"${'a'.repeat(2 ** 20)}","token_type":"Bearer"}`;
refuses('an answer over 1 MiB', { body: large }, 'too_large');
refuses(
  'over 1 MiB with gzip',
  { headers: { 'content-encoding': 'gzip' }, body: gzipSync(large) },
  'too_large',
);
refuses(
  'over 1 MiB with brotli',
  { headers: { 'content-encoding': 'br' }, body: brotliCompressSync(large) },
  'too_large',
);

for (const member of ['access_token', 'refresh_token', 'id_token', 'scope'])
  refuses(
    `${member} of more than 131,072 characters`,
    {
      body: { access_token: 'access', token_type: 'Bearer', [member]: 'a'.repeat(131_073) },
    },
    'too_large',
    `the \`${member}\` of`,
  );

test('a gzip bomb of 200 MB is refused without holding it', async t => {
  const bomb = gzipSync(Buffer.alloc(200_000_000, 'a'));
  const before = process.memoryUsage().rss;
  await assert.rejects(
    answering(t, { headers: { 'content-encoding': 'gzip' }, body: bomb }),
    providerError('too_large'),
  );
  assert.ok(process.memoryUsage().rss - before < 64_000_000);
});

test('a token of 131,072 characters is taken', async t => {
  const access_token = 'a'.repeat(131_072);
  assert.equal((await granting(t, { access_token })).accessToken, access_token);
});

test('an answer of just 1 MiB is taken', async t => {
  const frame = '{"access_token":"access","token_type":"Bearer","more":""}'.length;
  const more = 'a'.repeat(2 ** 20 - frame);
  const body = `{"access_token":"access","token_type":"Bearer","more":"${more}"}`;
  assert.equal((await answering(t, { body })).accessToken, 'access');
});

test('gzip is understood', async t => {
  const body = gzipSync('{"access_token":"zipped","token_type":"Bearer"}');
  assert.equal(
    (await answering(t, { headers: { 'content-encoding': 'gzip' }, body })).accessToken,
    'zipped',
  );
});

test('an answer that does not come ends with the caller’s time', async t => {
  const control = new AbortController();
  hostile.behave('token', () => {
    control.abort();
    return 'hang';
  });
  const outcome = openTestProvider(t, hostile).exchangeCode(EXCHANGE, control.signal);
  await assert.rejects(outcome, providerError('timeout'));
});

/** The facts of a refusal. */
async function refusal(t: TestContext, answer: HostileAnswer) {
  const error: unknown = await answering(t, answer).catch(caught => caught);
  assert.ok(error instanceof ProviderError, String(error));
  return [error.code, error.oauthError, error.status];
}

for (const [title, answer, oauthError] of [
  ['400 with a JSON error', { status: 400, body: { error: 'invalid_grant' } }, 'invalid_grant'],
  [
    '401 with a JSON error and a challenge',
    { status: 401, headers: { 'www-authenticate': 'Basic' }, body: { error: 'invalid_client' } },
    'invalid_client',
  ],
  ['a bare 401', { status: 401 }, 'invalid_client'],
  ['403 with a JSON error', { status: 403, body: { error: 'access_denied' } }, 'access_denied'],
  [
    'an error as text/plain',
    { status: 400, headers: { 'content-type': 'text/plain' }, body: '{"error":"invalid_grant"}' },
    'invalid_grant',
  ],
  ['200 with an error', { body: { error: 'bad_verification_code' } }, 'bad_verification_code'],
  ['an error with odd characters', { status: 400, body: { error: '<script>' } }, 'unrecognised'],
  ['an error that is too long', { status: 400, body: { error: 'e'.repeat(65) } }, 'unrecognised'],
  [
    'an error with a line feed',
    { status: 400, body: { error: 'invalid_grant\n' } },
    'unrecognised',
  ],
] as const) {
  test(`the provider refuses: ${title}`, async t => {
    const status = 'status' in answer ? answer.status : 200;
    assert.deepEqual(await refusal(t, answer), ['oauth_error', oauthError, status]);
  });
}

test('400 without a JSON error is a broken provider', async t => {
  assert.deepEqual(await refusal(t, { status: 400, body: 'no' }), ['http_status', undefined, 400]);
});

test('nothing of request and answer is in an error', async t => {
  const body = { error: 'invalid_grant', error_description: 'machine secret is wrong' };
  const error: unknown = await answering(t, { status: 400, body }).catch(caught => caught);
  assert.ok(error instanceof Error);
  assert.ok(
    !`${error.stack}${JSON.stringify(error)}${String(error.cause)}`.includes('machine secret'),
  );
});

test('a refusal is told in the words of the provider, and names the settings', async t => {
  hostile.behave('discovery', () => ({
    body: {
      ...hostile.discovery(),
      token_endpoint_auth_methods_supported: ['client_secret_post', 'tls_client_auth'],
    },
  }));
  const body = {
    error: 'invalid_client',
    error_description: 'AADSTS7000215: machine secret is invalid.',
  };
  const error: unknown = await answering(t, { status: 401, body }).catch(caught => caught);
  assert.ok(error instanceof ProviderError);
  assert.equal(
    error.message,
    `the token endpoint ${hostile.issuer}/token: refused with invalid_client (401), saying "AADSTS7000215: … is invalid.". ` +
      'See clientID, secret and clientAuthentication.method, which is HeaderPassword, while the provider accepts BodyPassword',
  );
  assert.deepEqual([error.oauthError, error.status], ['invalid_client', 401]);
});

for (const [error, hint] of [
  ['unauthorized_client', 'grantType'],
  ['invalid_scope', 'FilterPolicy'],
] as const) {
  test(`${error} names what to look at`, t =>
    assert.rejects(
      answering(t, { status: 400, body: { error } }),
      providerError('oauth_error', hint),
    ));
}

test('errors of an answer that the library refuses hold nothing of it', async t => {
  const error: unknown = await granting(t, { access_token: 'hidden', refresh_token: 7 }).catch(
    caught => caught,
  );
  assert.ok(error instanceof Error);
  assert.equal(error.cause, undefined);
  assert.ok(!`${error.stack}${JSON.stringify(error)}`.includes('hidden'));
});
