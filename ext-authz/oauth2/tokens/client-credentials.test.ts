import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '#ext-authz/chain/fault.ts';
import { headerTemplates } from '#ext-authz/jwt/testing/jwt-settings.ts';
import { answerOf, fieldOf, setBy } from '#ext-authz/jwt/testing/requests.ts';
import { as, clientProvider, ME } from '#ext-authz/oauth2/testing/client-provider.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { StoreUnavailable } from '#ext-authz/store/record-store.ts';
import { assertionSettings } from '#ext-authz/testing/provider-settings.ts';
import { soon } from '#ext-authz/testing/soon.ts';

const { accessToken, asked, grant, hostile, judge, open, refuse } = clientProvider();

test('HeaderPassword: the headers become the client authentication, and upstream gets the token', async t => {
  const { run } = await open(t);
  const { authorization } = setBy(await run(ME, ['b', 'a']));
  const [request] = hostile().asked('token');
  assert.equal(
    request?.headers.authorization,
    `Basic ${Buffer.from('me:top+secret').toString('base64')}`,
  );
  assert.deepEqual(Object.fromEntries(request?.form ?? []), {
    grant_type: 'client_credentials',
    scope: 'a b',
  });
  assert.match(authorization ?? '', /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
});

test('BodyPassword: they go into the body, and no scope is sent when there is none', async t => {
  const changes = { clientAuthentication: { method: 'BodyPassword' } } as const;
  const { run } = await open(t, changes);
  setBy(await run(ME));
  const [request] = hostile().asked('token');
  assert.equal(request?.headers.authorization, undefined);
  const form = { grant_type: 'client_credentials', client_id: 'me', client_secret: 'top secret' };
  assert.deepEqual(Object.fromEntries(request?.form ?? []), form);
});

test('JWTAssertion: the assertion is sent unchanged, with client_id only when setClientID says so', async t => {
  for (const setClientID of [false, true]) {
    hostile().reset();
    grant();
    const jwtAssertion = assertionSettings({ setClientID });
    const changes = { clientAuthentication: { method: 'JWTAssertion', jwtAssertion } } as const;
    const { run } = await open(t, changes);
    const assertion = await accessToken();
    setBy(await run({ 'x-gateway-client-assertion': assertion }));
    assert.deepEqual(Object.fromEntries(hostile().asked('token')[0]?.form ?? []), {
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
      ...(setClientID && { client_id: 'me' }),
    });
  }
});

test('without credentials the answer is 403, and no provider is asked', async t => {
  const { run } = await open(t);
  const answer = answerOf(await run({}));
  assert.equal(answer.status, 403);
  assert.equal(fieldOf(answer, 'www-authenticate'), undefined);
  assert.equal(fieldOf(answer, 'cache-control'), 'no-store');
  assert.deepEqual([asked(), hostile().asked('discovery').length], [0, 0]);
});

test('50 requests with the same credentials make one token request', async t => {
  const { run } = await open(t);
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => run(ME)));
  assert.equal(new Set(outcomes.map(outcome => setBy(outcome).authorization)).size, 1);
  assert.equal(asked(), 1);
});

test('a token is cached by credentials, scope, realm and version of the Filter', async t => {
  const { run, replica } = await open(t);
  const first = setBy(await run(ME, ['a', 'b'])).authorization;
  assert.equal(setBy(await run(ME, ['b', 'a', 'b'])).authorization, first);
  assert.equal(setBy(await replica()(ME, ['a', 'b'])).authorization, first);
  assert.equal(asked(), 1);
  await run(ME, ['a']);
  await run(as('me', 'other'), ['a', 'b']);
  await run(as('other', 'top secret'), ['a', 'b']);
  await replica({ version: 'second' })(ME, ['a', 'b']);
  await replica({ realm: 'other.default' })(ME, ['a', 'b']);
  await replica({ storeKey: new Uint8Array(32) })(ME, ['a', 'b']);
  assert.equal(asked(), 7);
});

test('a token lives until its end less expirationSafetyMargin', async t => {
  const changes = { expirationSafetyMargin: 10_000 };
  // Of whole seconds, and the Filter's clock begins a little later.
  const soon = () => ({ exp: Math.floor(Date.now() / 1_000) + 60 });
  for (const [what, answer, claims, least] of [
    ['expires_in', { expires_in: 60 }, () => ({}), 49_000],
    ['its own exp when that is sooner', {}, soon, 45_000],
    ['expires_in as text', { expires_in: '60' }, () => ({}), 49_000],
    ['an expires_in of no sense is a minute', { expires_in: -1 }, () => ({}), 49_000],
  ] as const) {
    hostile().reset();
    grant(answer, claims());
    const { run, pass } = await open(t, changes);
    const first = setBy(await run(ME)).authorization;
    pass(least);
    assert.equal(setBy(await run(ME)).authorization, first, what);
    pass(51_000 - least);
    assert.notEqual(fieldsOrStatus(await run(ME)), first, what);
    assert.equal(asked(), 2, what);
  }
});

function fieldsOrStatus(outcome: Parameters<typeof setBy>[0]): unknown {
  return outcome.kind === 'allow' ? outcome.change.set.get('authorization') : outcome.answer.status;
}

test('a token that ends within the margin is used for those who wait for it, and not kept', async t => {
  grant({ expires_in: 5 });
  const changes = { expirationSafetyMargin: 10_000 };
  const { run } = await open(t, changes);
  for (const outcome of await Promise.all([run(ME), run(ME)])) setBy(outcome);
  setBy(await run(ME));
  assert.equal(asked(), 2);
});

test('a token got by an assertion is not used for longer than the assertion lives', async t => {
  const jwtAssertion = assertionSettings();
  const changes = { clientAuthentication: { method: 'JWTAssertion', jwtAssertion } } as const;
  const assertion = {
    'x-gateway-client-assertion': await accessToken({ exp: Math.floor(Date.now() / 1_000) + 60 }),
  };
  // Its clock begins a little later.
  const { run, pass } = await open(t, changes);
  setBy(await run(assertion));
  pass(55_000);
  setBy(await run(assertion));
  assert.equal(asked(), 1);
  pass(5_000);
  assert.equal(answerOf(await run(assertion)).status, 403);
});

test('a listed scope that is not granted is 403, offline_access excepted', async t => {
  const { run } = await open(t);
  setBy(await run(ME, ['a']));
  grant({ scope: 'a' });
  setBy(await run(ME, ['a', 'offline_access']));
  for (const _ of [1, 2]) assert.equal(answerOf(await run(ME, ['a', 'b'])).status, 403);
  assert.equal(asked(), 3);
});

test('invalid_scope is 403 and does not count against the client', async t => {
  refuse('invalid_scope', 400);
  const { run, pass } = await open(t);
  for (let n = 0; n < 8; n += 1) {
    assert.equal(answerOf(await run(ME, ['a'])).status, 403);
    pass(1_000);
  }
  assert.equal(asked(), 8);
});

test('an access token that is not valid is 403 and names the check, and it is not asked for again for 1 s', async t => {
  grant({}, { iss: 'https://other.test' });
  const { run, pass } = await open(t);
  assert.match(
    answerOf(await run(ME)).body,
    /The access token is not valid: the access token is from another issuer/,
  );
  assert.equal(answerOf(await run(ME)).status, 403);
  assert.equal(asked(), 1);
  grant();
  pass(1_000);
  setBy(await run(ME));
});

test('a cached token that is no longer valid is replaced once', async t => {
  grant({ expires_in: 3_600 }, {});
  const { run, pass } = await open(t, { accessTokenValidation: 'userinfo' });
  setBy(await run(ME));
  let refused = 1;
  hostile().behave('userinfo', () => {
    refused -= 1;
    return refused >= 0 ? { status: 401 } : { body: { sub: 'me' } };
  });
  setBy(await run(ME));
  assert.equal(asked(), 2);
  hostile().behave('userinfo', () => ({ status: 401 }));
  assert.equal(answerOf(await run(ME)).status, 403);
  assert.equal(asked(), 3);
  pass(1);
  assert.equal(answerOf(await run(ME)).status, 403);
  assert.equal(asked(), 3);
});

test('injectRequestHeaders see the token, and there is no ID token', async t => {
  const injectRequestHeaders = headerTemplates([
    ['x-sub', '{{ .token.Claims.sub }}[{{ .idToken.Raw }}]'],
  ]);
  const { run } = await open(t, { injectRequestHeaders });
  assert.equal(setBy(await run(ME))['x-sub'], 'me[]');
});

test('a provider that is down or broken is a fault that is not remembered', async t => {
  const { run } = await open(t);
  for (const answer of [
    'hang up',
    'break off',
    { status: 500 },
    { body: '[]' },
    { status: 400, body: { error: 'invalid_request' } },
  ] as const) {
    hostile().behave('token', () => answer);
    await assert.rejects(run(ME), error => faultOf(error) === 'provider');
  }
  grant();
  setBy(await run(ME));
});

test('a provider that does not answer in time is 504, whether it is asked for keys, a token or userinfo', async t => {
  const changes = { accessTokenValidation: 'userinfo' } as const;
  for (const endpoint of ['discovery', 'token', 'userinfo'] as const) {
    hostile().reset();
    grant();
    hostile().behave(endpoint, () => 'hang');
    const { replica } = await open(t, changes);
    const run = replica({ deadline: () => AbortSignal.timeout(300) });
    await assert.rejects(run(ME), error => faultOf(error) === 'provider_timeout', endpoint);
  }
});

/** The times for the provider that a Filter has begun. */
function countedTimes() {
  const begun: AbortController[] = [];
  const deadline = () => {
    const time = new AbortController();
    begun.push(time);
    return AbortSignal.any([time.signal, soon()]);
  };
  return { begun, deadline };
}

test('userinfo gets what a new token leaves of the time, and none of its own', async t => {
  const { begun, deadline } = countedTimes();
  const seen: number[] = [];
  hostile().behave('token', async () => {
    seen.push(begun.length);
    return { body: { access_token: await accessToken(), token_type: 'Bearer' } };
  });
  hostile().behave('userinfo', () => {
    seen.push(begun.length);
    return { body: { sub: 'me' } };
  });
  const { replica } = await open(t, { accessTokenValidation: 'userinfo' });
  setBy(await replica({ deadline })(ME));
  assert.deepEqual(seen, [2, 2]);
});

test('a first token gets no more than the time of its request, which a slow store has begun', async t => {
  const { begun, deadline } = countedTimes();
  const { replica } = await open(t);
  hostile().behave('token', () => {
    begun.at(-2)?.abort();
    return 'hang';
  });
  await assert.rejects(replica({ deadline })(ME), {
    code: 'timeout',
    message: 'the token endpoint: no answer in time',
  });
});

test('so does the token that replaces one which userinfo refuses', async t => {
  const { begun, deadline } = countedTimes();
  const { replica } = await open(t, { accessTokenValidation: 'userinfo' });
  const run = replica({ deadline });
  setBy(await run(ME));
  hostile().behave('userinfo', () => ({ status: 401 }));
  hostile().behave('token', () => {
    begun.at(-2)?.abort();
    return 'hang';
  });
  await assert.rejects(run(ME), {
    code: 'timeout',
    message: 'the token endpoint: no answer in time',
  });
});

test('a store that is down is 503, whatever the credentials', async t => {
  const { replica, store } = await open(t);
  const down = () => Promise.reject(new StoreUnavailable('away'));
  for (const changes of [
    { read: down },
    { count: down },
    { create: down },
  ] as readonly Partial<RecordStore>[]) {
    const broken: RecordStore = new Proxy(store, {
      get: (target, name) => Reflect.get(changes, name) ?? Reflect.get(target, name).bind(target),
    });
    await assert.rejects(replica({ store: broken })(ME), error => faultOf(error) === 'store');
  }
});

test('the store holds neither credentials nor tokens', async t => {
  judge();
  const { run, dump } = await open(t);
  const token = setBy(await run(ME)).authorization?.slice(7) ?? '';
  await run(as('mallory', 'guess'));
  const stolen = (await dump()).toString('latin1');
  for (const secret of ['top secret', 'mallory', 'guess', '203.0.113.7', token, token.slice(-40)])
    assert.ok(secret !== '' && !stolen.includes(secret), secret.slice(0, 9));
});
