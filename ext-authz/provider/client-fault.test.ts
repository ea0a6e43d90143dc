import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import {
  type HostileProvider,
  makeSigningKey,
  startHostileProvider,
} from '#ext-authz/testing/hostile-provider.ts';
import { EXCHANGE } from '#ext-authz/testing/open-test-provider.ts';
import { providerSettings } from '#ext-authz/testing/provider-settings.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { openProvider } from './open-provider.ts';
import type { ProviderAspect } from './provider-listener.ts';
import type { ProviderSettings } from './settings.ts';

let hostile: HostileProvider;
before(async () => {
  hostile = await startHostileProvider();
});
after(() => hostile.close());
beforeEach(() => hostile.reset());

/** What is heard of the client, or of another aspect. */
function setUp(
  t: TestContext,
  changes: Partial<ProviderSettings> = {},
  of: ProviderAspect = 'client',
) {
  const heard: (string | undefined)[] = [];
  const settings = providerSettings(hostile.issuer, changes);
  const provider = openProvider(settings, { now: Date.now, id: randomUUID }, (aspect, error) => {
    if (aspect === of) heard.push(error?.message);
  });
  t.after(() => provider.close());
  return { provider, heard };
}

const refusing =
  (error: string, status = 400) =>
  () => ({
    status,
    body: { error, error_description: 'no user alice@example.com, secret hunter2' },
  });

test('a client that the provider refuses is told of with the settings to look at, in no words of the provider', async t => {
  const { provider, heard } = setUp(t);
  hostile.behave('discovery', () => ({
    body: { ...hostile.discovery(), token_endpoint_auth_methods_supported: ['client_secret_post'] },
  }));
  hostile.behave('token', refusing('invalid_client', 401));
  await assert.rejects(provider.exchangeCode(EXCHANGE, soon()));
  assert.deepEqual(heard, [
    `the token endpoint of ${hostile.issuer} refuses the client with invalid_client. See clientID, secret and clientAuthentication.method, which is HeaderPassword, while the provider accepts BodyPassword`,
  ]);
});

test('a client that may not use its grant is told of too', async t => {
  const { provider, heard } = setUp(t);
  const credentials = { username: 'alice', password: 'p', scope: [] };
  hostile.behave('token', refusing('unauthorized_client'));
  await assert.rejects(provider.password(credentials, soon()));
  assert.match(heard[0] ?? '', /refuses the client with unauthorized_client. See grantType, /);
  assert.doesNotMatch(heard[0] ?? '', /alice|hunter2/);
});

test('a client is taken when it gets tokens, and when its user or code is refused', async t => {
  const { provider, heard } = setUp(t);
  await provider.exchangeCode(EXCHANGE, soon());
  hostile.behave('token', refusing('invalid_grant'));
  await assert.rejects(provider.exchangeCode(EXCHANGE, soon()));
  assert.deepEqual(heard, [undefined, undefined]);
});

test('what else the provider says tells nothing of the client', async t => {
  const { provider, heard } = setUp(t);
  for (const behaviour of [
    refusing('invalid_scope'),
    refusing('server_error'),
    refusing('invalid_client', 429),
    () => ({ status: 500 }),
    () => 'hang up' as const,
  ]) {
    hostile.behave('token', behaviour);
    await assert.rejects(provider.exchangeCode(EXCHANGE, soon()));
  }
  assert.deepEqual(heard, []);
});

test('credentials that a request brings are not those of the Filter', async t => {
  const { provider, heard } = setUp(t, { clientID: undefined, secret: undefined });
  const credentials = { kind: 'password', clientID: 'theirs', secret: 'wrong' } as const;
  hostile.behave('token', refusing('invalid_client', 401));
  await assert.rejects(provider.clientCredentials({ credentials, scope: [] }, soon()));
  assert.deepEqual(heard, []);
});

test('a token endpoint that gives no answer is told of, whose client it is or not, and any answer ends it', async t => {
  const { provider, heard } = setUp(t, {}, 'tokens');
  const credentials = { kind: 'password', clientID: 'theirs', secret: 'wrong' } as const;
  for (const behaviour of [
    () => ({ status: 503 }),
    () => 'hang up' as const,
    refusing('invalid_client', 401),
  ]) {
    hostile.behave('token', behaviour);
    await assert.rejects(provider.exchangeCode(EXCHANGE, soon()));
    await assert.rejects(provider.clientCredentials({ credentials, scope: [] }, soon()));
  }
  const down = `the token endpoint ${hostile.issuer}/token: status 503`;
  assert.deepEqual(heard.slice(0, 2), [down, down]);
  assert.match(heard[2] ?? '', /^the token endpoint .+/);
  assert.match(heard[3] ?? '', /^the token endpoint .+/);
  assert.deepEqual(heard.slice(4), [undefined, undefined]);
});

test('a token endpoint whose answer serves nobody is told of, a refusal that may be about one client is not', async t => {
  const { provider, heard } = setUp(t, {}, 'tokens');
  const html = { headers: { 'content-type': 'text/html' }, body: '<h1>Maintenance</h1>' };
  const forNobody = [
    { status: 302, headers: { location: '/new' } },
    { status: 404, ...html },
    html,
    { body: { token_type: 'Bearer' } },
    { body: await hostile.tokens({ token_type: 'DPoP' }) },
  ];
  for (const answer of [...forNobody, { status: 400, ...html }, { status: 403, ...html }]) {
    hostile.behave('token', () => answer);
    await assert.rejects(provider.exchangeCode(EXCHANGE, soon()));
  }
  const told = heard.map(message => message?.replace(`the token endpoint ${hostile.issuer}`, ''));
  assert.deepEqual(told.slice(0, 3), [
    '/token: status 302, a redirect, which is not followed',
    '/token: status 404',
    "/token: the answer's Content-Type is not application/json",
  ]);
  assert.match(told[3] ?? '', /^\/token: the answer has no `access_token`/);
  assert.equal(told[4], "the token endpoint: the token's type is not Bearer");
  assert.deepEqual(told.slice(5), [undefined, undefined]);
});

test('a token that is too large to be stored is told of in the same words each time', async t => {
  const { provider, heard } = setUp(t, {}, 'tokens');
  const credentials = { kind: 'password', clientID: 'theirs', secret: 'right' } as const;
  hostile.behave('token', async () => ({
    body: await hostile.tokens({ access_token: 'a'.repeat(131_072 + heard.length + 1) }),
  }));
  await assert.rejects(provider.exchangeCode(EXCHANGE, soon()));
  await assert.rejects(provider.clientCredentials({ credentials, scope: [] }, soon()));
  const large = `the \`access_token\` of ${hostile.issuer} is longer than 131072 characters. Let the provider put less into it, such as fewer groups`;
  assert.deepEqual(heard, [undefined, large, undefined, large]);
});

test('ID tokens that no login can pass with are told of: signed otherwise, by an unknown key, or none', async t => {
  const { provider, heard } = setUp(t, {}, 'idTokens');
  const { privateKey } = await makeSigningKey('unknown');
  for (const id_token of [
    await hostile.idToken({ header: { alg: 'HS256' }, key: Buffer.alloc(32) }),
    await hostile.idToken({ header: { kid: 'unknown' }, key: privateKey }),
    await hostile.idToken({ key: privateKey }),
    undefined,
  ]) {
    hostile.behave('token', async () => ({ body: await hostile.tokens({ id_token }) }));
    await assert.rejects(provider.exchangeCode(EXCHANGE, soon()));
  }
  const invalid = `the ID token of ${hostile.issuer} is not valid: `;
  const told = heard.map(message => message?.replace(invalid, ''));
  assert.match(told[0] ?? '', /^its `alg` is "HS256", none of those that the provider signs with/);
  assert.match(told[1] ?? '', /^it is signed with a key that is not in the key set/);
  assert.deepEqual(told.slice(2), [
    'its signature is wrong',
    `the answer of ${hostile.issuer} has no ID token`,
  ]);
});

test('ID tokens that a setting or a clock makes invalid are told of, those that a browser can bring about are not, and a good one ends it', async t => {
  const { provider, heard } = setUp(t, {}, 'idTokens');
  const inAMinute = Math.floor(Date.now() / 1_000) + 60;
  for (const claims of [{ iat: inAMinute }, { aud: 'another' }, { nonce: 'replayed' }, {}]) {
    const id_token = await hostile.idToken({ claims });
    hostile.behave('token', async () => ({ body: await hostile.tokens({ id_token }) }));
    await provider.exchangeCode(EXCHANGE, soon()).catch(() => {});
  }
  const invalid = `the ID token of ${hostile.issuer} is not valid: its `;
  assert.equal(heard.length, 3, heard.join('\n'));
  assert.match(
    heard[0]?.replace(invalid, '') ?? '',
    /^`iat` is \d\d s ahead by the clock here, 30 s are allowed\. Correct the clock that is wrong$/,
  );
  assert.equal(heard[1], `${invalid}\`aud\` is "another", which is not clientID "client"`);
  assert.equal(heard[2], undefined);
});
