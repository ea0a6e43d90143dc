import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import {
  type HostileAnswer,
  type HostileProvider,
  makeSigningKey,
  startHostileProvider,
} from '#ext-authz/testing/hostile-provider.ts';
import { openTestProvider, providerError } from '#ext-authz/testing/open-test-provider.ts';
import { providerSettings } from '#ext-authz/testing/provider-settings.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { openProvider } from './open-provider.ts';
import { ProviderError } from './provider-error.ts';

let hostile: HostileProvider;
before(async () => {
  hostile = await startHostileProvider();
});
after(() => hostile.close());
beforeEach(() => hostile.reset());

function ask(
  t: TestContext,
  answer: HostileAnswer,
  subject: string | undefined = 'alice',
  accessToken = 'access.token',
) {
  hostile.behave('userinfo', () => answer);
  return openTestProvider(t, hostile).userinfo({ accessToken, subject }, soon());
}

/** What is heard of the userinfo endpoint. */
function listening(t: TestContext) {
  const heard: (string | undefined)[] = [];
  const sources = { now: Date.now, id: randomUUID };
  const provider = openProvider(providerSettings(hostile.issuer), sources, (aspect, error) => {
    if (aspect === 'userinfo') heard.push(error?.message);
  });
  t.after(() => provider.close());
  return { heard, provider };
}

const signed = async (claims: object, key?: Parameters<HostileProvider['idToken']>[0]) => ({
  headers: { 'content-type': 'application/jwt' },
  body: await hostile.idToken({ ...key, claims: { ...claims } }),
});

test('a userinfo endpoint that serves nobody is told of, what it says of one token is not, and ends it', async t => {
  const { heard, provider } = listening(t);
  const userinfo = () =>
    provider.userinfo({ accessToken: 'access.token', subject: 'alice' }, soon()).catch(() => {});
  const html = { headers: { 'content-type': 'text/html' }, body: '<h1>Log in</h1>' };
  for (const answer of [{ status: 503 }, { status: 302 }, { status: 404 }, html]) {
    hostile.behave('userinfo', () => answer);
    await userinfo();
  }
  const place = `the userinfo endpoint ${hostile.issuer}/userinfo`;
  const statuses = [503, 302, 404].map(status => `${place}: status ${status}`);
  const type = `${place}: the answer's Content-Type is not application/json`;
  assert.deepEqual(heard.splice(0), [...statuses, type]);
  for (const answer of [
    { status: 401 },
    { status: 403 },
    { body: { sub: 'mallory' } },
    { body: { sub: 'alice' } },
  ]) {
    hostile.behave('userinfo', () => answer);
    await userinfo();
  }
  assert.deepEqual(heard.splice(0), Array(4).fill(undefined));
});

test('a provider without a userinfo endpoint is told of when a token needs it', async t => {
  const { heard, provider } = listening(t);
  const { userinfo_endpoint: _, ...without } = hostile.discovery();
  hostile.behave('discovery', () => ({ body: without }));
  await assert.rejects(provider.userinfo({ accessToken: 'a', subject: 'alice' }, soon()));
  assert.match(heard.join(), /has no `userinfo_endpoint`/);
});

test('the access token goes as a bearer token, and the claims come back', async t => {
  assert.deepEqual(await ask(t, { body: { sub: 'alice', email: 'a@b' } }), {
    sub: 'alice',
    email: 'a@b',
  });
  assert.equal(hostile.asked('userinfo')[0]?.headers.authorization, 'Bearer access.token');
});

test('every call asks: nothing is cached', async t => {
  hostile.behave('userinfo', () => ({
    headers: { 'cache-control': 'max-age=600' },
    body: { sub: 'alice' },
  }));
  const provider = openTestProvider(t, hostile);
  for (let n = 0; n < 3; n += 1)
    await provider.userinfo({ accessToken: 'a', subject: 'alice' }, soon());
  assert.equal(hostile.asked('userinfo').length, 3);
});

test('userinfo about another user is refused', t =>
  assert.rejects(ask(t, { body: { sub: 'mallory' } }), providerError('subject_mismatch')));
test('without ID token any sub will do', async t => {
  hostile.behave('userinfo', () => ({ body: { sub: 'bob' } }));
  const provider = openTestProvider(t, hostile);
  assert.equal(
    (await provider.userinfo({ accessToken: 'a', subject: undefined }, soon())).sub,
    'bob',
  );
});
for (const sub of [undefined, '', 7]) {
  test(`sub ${sub} is refused, without ID token too`, async t => {
    hostile.behave('userinfo', () => ({ body: { sub } }));
    const provider = openTestProvider(t, hostile);
    const outcome = provider.userinfo({ accessToken: 'a', subject: undefined }, soon());
    await assert.rejects(outcome, providerError('invalid_answer'));
  });
}

for (const [title, answer, facts] of [
  ['a bare 401', { status: 401 }, ['oauth_error', 'invalid_token']],
  [
    'a 401 with a challenge',
    { status: 401, headers: { 'www-authenticate': 'Bearer realm="x", error="expired"' } },
    ['oauth_error', 'expired'],
  ],
  [
    '403',
    { status: 403, headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' } },
    ['oauth_error', 'insufficient_scope'],
  ],
  [
    'a JSON error',
    { status: 400, body: { error: 'invalid_token' } },
    ['oauth_error', 'invalid_token'],
  ],
  [
    '403 in the manner of Salesforce',
    { status: 403, headers: { 'content-type': 'text/html' }, body: 'Bad_OAuth_Token' },
    ['oauth_error', 'invalid_token'],
  ],
  ['a bare 403', { status: 403, body: 'Forbidden' }, ['http_status', undefined]],
  ['500', { status: 500 }, ['http_status', undefined]],
  ['a redirect', { status: 302, headers: { location: '/login' } }, ['http_status', undefined]],
  [
    'a login page',
    { headers: { 'content-type': 'text/html' }, body: '<form>' },
    ['invalid_answer', undefined],
  ],
  ['a list', { body: [] }, ['invalid_answer', undefined]],
] as const) {
  test(`userinfo answers ${title}: ${facts.join(' ')}`, async t => {
    const error: unknown = await ask(t, answer).catch(caught => caught);
    assert.ok(error instanceof ProviderError);
    assert.deepEqual([error.code, error.oauthError], facts);
  });
}

test('signed userinfo is verified', async t => {
  assert.equal((await ask(t, await signed({ email: 'a@b' }))).email, 'a@b');
});
test('signed userinfo by another key is refused', async t => {
  const { privateKey: key } = await makeSigningKey('x');
  await assert.rejects(
    ask(t, await signed({}, { key })),
    providerError('invalid_answer', 'signed'),
  );
});
for (const claims of [{ iss: 'https://evil.test' }, { aud: 'another' }, { exp: 1 }]) {
  test(`signed userinfo with ${JSON.stringify(claims)} is refused`, async t =>
    assert.rejects(ask(t, await signed(claims)), providerError('invalid_answer', 'signed')));
}
test('signed userinfo may be without iss, aud and exp', async t => {
  assert.equal(
    (await ask(t, await signed({ iss: undefined, aud: undefined, exp: undefined }))).sub,
    'alice',
  );
});
test('signed userinfo about another user is refused', async t =>
  assert.rejects(ask(t, await signed({ sub: 'mallory' })), providerError('subject_mismatch')));

test('an access token that no header can carry is not sent', async t => {
  for (const accessToken of ['a\r\nx: y', 'a\n', '\0', '€', '']) {
    const outcome = ask(t, { body: { sub: 'alice' } }, 'alice', accessToken);
    await assert.rejects(outcome, providerError('invalid_answer', 'cannot be sent'));
  }
  assert.equal(hostile.asked('userinfo').length, 0);
});

test('a provider without userinfo endpoint is told by name', async t => {
  hostile.behave('discovery', () => ({
    body: { ...hostile.discovery(), userinfo_endpoint: undefined },
  }));
  await assert.rejects(ask(t, {}), providerError('missing_endpoint', 'userinfo_endpoint'));
});
