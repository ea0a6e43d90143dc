import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, FAR, grantCodes } from '#ext-authz/oauth2/testing/code-provider.ts';
import type { TestBrowser } from '#ext-authz/oauth2/testing/test-browser.ts';
import { REALM } from '#ext-authz/oauth2/testing/test-gateway.ts';
import { useWorld } from '#ext-authz/oauth2/testing/world.ts';
import { StoreUnavailable } from '#ext-authz/store/record-store.ts';
import { sealOfSecret } from '#ext-authz/store/sealed-record.ts';
import { makeSigningKey, type SigningKey } from '#ext-authz/testing/hostile-provider.ts';
import { until } from '#redis/testing/until.ts';
import { refreshOnce } from './refresh-once.ts';

const { open, provider } = useWorld();
const PAGE = 'https://a.test/page';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SESSION = `__Host-gateway_session.${REALM}`;

const refreshes = () =>
  provider()
    .asked('token')
    .filter(({ form }) => form.get('grant_type') === 'refresh_token');

/** Lets refresh tokens count once, as those of careful providers. The next one is in the answer. */
function rotate(granting: (grantType: string, count: number) => object = () => ({})): void {
  let current = '';
  let count = 0;
  provider().behave('token', async ({ form }) => {
    const grantType = form.get('grant_type') ?? '';
    if (grantType === 'refresh_token' && form.get('refresh_token') !== current)
      return { status: 400, body: { error: 'invalid_grant' } };
    current = `refresh-${count}`;
    const more = granting(grantType, count) as { claims?: object; key?: SigningKey };
    const { kid, privateKey } = more.key ?? provider().key;
    const claims = { nonce: form.get('code') ?? undefined, exp: FAR, ...more.claims };
    const id_token = await provider().idToken({ claims, header: { kid }, key: privateKey });
    const tokens = { access_token: `access-${count}`, refresh_token: current, id_token, ...more };
    count += 1;
    return { body: await provider().tokens(tokens) };
  });
}

const bearer = async (browser: TestBrowser, visit = {}) =>
  (await browser.visit(PAGE, visit)).change?.set.get('authorization');

test('a session without refresh token ends with its access token', async t => {
  const { browser, gateway } = await open(t);
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR - 10_000);
  assert.equal((await browser.visit(PAGE)).status, 0);
  gateway.advance(10_001);
  assert.equal((await browser.visit(PAGE)).status, 303);
});

test('a rotated refresh token is kept when the keys for the new ID token cannot be had', async t => {
  const { browser, gateway } = await open(t);
  rotate();
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR + 1);
  provider().behave('jwks', () => ({ status: 500 }));
  await assert.rejects(browser.visit(PAGE), { name: 'ProviderError' });
  provider().behave('jwks', () => ({ body: { keys: [provider().key.publicJwk] } }));
  gateway.advance(2_000);
  assert.equal(await bearer(browser), 'Bearer access-2');
  assert.deepEqual(
    refreshes().map(({ form }) => form.get('refresh_token')),
    ['refresh-0', 'refresh-1'],
  );
});

for (const [what, kid] of [
  ['that is not published yet', 'second'],
  ['with the `kid` of an older one', 'first'],
] as const)
  test(`a refreshed ID token of a key ${what}: the session stays, and goes on with the key`, async t => {
    const second = await makeSigningKey(kid);
    const { browser, gateway } = await open(t, { settings: { expirationSafetyMargin: 60_000 } });
    rotate(grantType => (grantType === 'refresh_token' ? { key: second } : {}));
    await browser.follow(PAGE, authorize);
    gateway.advance(HOUR - 30_000);
    assert.equal(await bearer(browser), 'Bearer access-0');
    gateway.advance(31_000);
    await assert.rejects(browser.visit(PAGE), { code: 'unverified_id_token' });
    provider().behave('jwks', () => ({ body: { keys: [second.publicJwk] } }));
    gateway.advance(400_000);
    assert.equal(await bearer(browser), 'Bearer access-3');
    assert.deepEqual(
      refreshes().map(({ form }) => form.get('refresh_token')),
      ['refresh-0', 'refresh-1', 'refresh-2'],
    );
  });

test('a session does not wait for a key that stays unpublished', async t => {
  const second = await makeSigningKey('second');
  const { browser, gateway } = await open(t);
  rotate(grantType => (grantType === 'refresh_token' ? { key: second } : {}));
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR + 590_000);
  await assert.rejects(browser.visit(PAGE), { code: 'unverified_id_token' });
  gateway.advance(20_000);
  assert.equal((await browser.visit(PAGE)).status, 303);
});

test('a refresh with a token that is too large: the session stays, with the rotated refresh token', async t => {
  const { browser, gateway } = await open(t, { settings: { expirationSafetyMargin: 60_000 } });
  const large = 'a'.repeat(131_073);
  rotate((_, count) => (count === 1 ? { access_token: large } : {}));
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR - 30_000);
  assert.equal(await bearer(browser), 'Bearer access-0');
  assert.ok(!(await gateway.dump()).includes(large));
  gateway.advance(2_000);
  assert.equal(await bearer(browser), 'Bearer access-2');
  assert.deepEqual(
    refreshes().map(({ form }) => form.get('refresh_token')),
    ['refresh-0', 'refresh-1'],
  );
});

test('without expires_in and exp a session lives an hour', async t => {
  const { browser, gateway } = await open(t);
  grantCodes(provider(), () => ({ expires_in: undefined }));
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR - 10_000);
  assert.equal((await browser.visit(PAGE)).status, 0);
  gateway.advance(10_001);
  assert.equal((await browser.visit(PAGE)).status, 303);
});

test('the exp of an access token counts when it is sooner', async t => {
  const { browser, gateway } = await open(t);
  const exp = Math.floor(Date.now() / 1000) + 60;
  const jwt = `${Buffer.from('{"alg":"RS256"}').toString('base64url')}.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.x`;
  grantCodes(provider(), () => ({ access_token: jwt }));
  await browser.follow(PAGE, authorize);
  gateway.advance(61_000);
  assert.equal((await browser.visit(PAGE)).status, 303);
});

test('an expired access token is refreshed in line, and the rotated refresh token is kept', async t => {
  const { browser, gateway } = await open(t);
  rotate();
  await browser.follow(PAGE, authorize);
  for (const token of ['access-1', 'access-2', 'access-3']) {
    gateway.advance(HOUR + 1);
    assert.equal(await bearer(browser), `Bearer ${token}`);
  }
  assert.equal(refreshes().length, 3);
});

test('expirationSafetyMargin before its end an access token is refreshed', async t => {
  const { browser, gateway } = await open(t, { settings: { expirationSafetyMargin: 60_000 } });
  rotate();
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR - 70_000);
  assert.equal(await bearer(browser), 'Bearer access-0');
  gateway.advance(11_000);
  assert.equal(await bearer(browser), 'Bearer access-1');
});

test('50 requests with an expired token: one refresh, and all have the new token', async t => {
  const { browser, gateway } = await open(t);
  rotate();
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR + 1);
  const seen = await Promise.all(Array.from({ length: 50 }, () => bearer(browser)));
  assert.deepEqual([...new Set(seen)], ['Bearer access-1']);
  assert.equal(refreshes().length, 1);
});

test('200 requests over two replicas: one refresh of a refresh token that counts once', async t => {
  const { browser, gateway } = await open(t, { replicas: 2 });
  rotate();
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR + 1);
  const calls = Array.from({ length: 200 }, (_, index) => bearer(browser, { replica: index % 2 }));
  assert.deepEqual([...new Set(await Promise.all(calls))], ['Bearer access-1']);
  assert.equal(refreshes().length, 1);
});

test('a process that waits for the refresh of another asks the store less and less often', async t => {
  const { browser, gateway } = await open(t);
  rotate();
  await browser.follow(PAGE, authorize);
  const [[filter] = []] = gateway.filters;
  assert.ok(filter);
  const loaded = await filter.sessions.read(browser.jar.value(PAGE, SESSION) ?? '');
  assert.ok(loaded);
  const lease = sealOfSecret(loaded.id, { kind: 'refresh', realm: filter.sealRealm }).key;
  await filter.store.acquire(lease, 'another', HOUR);
  const pauses: number[] = [];
  const sources = { ...filter.sources, pause: async (ms: number) => void pauses.push(ms) };
  const outcome = await refreshOnce({ ...filter, realm: filter.sealRealm, sources }, loaded);
  assert.equal(outcome.kind, 'failed');
  assert.deepEqual([pauses[0], pauses.at(-1)], [50, 500]);
  assert.ok(pauses.length < 50, `${pauses.length} times`);
  assert.ok(pauses.reduce((sum, ms) => sum + ms) >= 14_000);
});

test('an access token that is refused before its time is refreshed, once for a request', async t => {
  const { browser, gateway } = await open(t);
  rotate();
  await browser.follow(PAGE, authorize);
  gateway.judge(token =>
    token === 'access-0' ? { kind: 'invalid', check: 'refused' } : { kind: 'valid' },
  );
  assert.deepEqual(
    [await bearer(browser), await bearer(browser)],
    Array(2).fill('Bearer access-1'),
  );
  assert.equal(refreshes().length, 1);
  gateway.judge(() => ({ kind: 'invalid', check: 'refused' }));
  assert.equal((await browser.visit(PAGE)).status, 303);
  assert.equal(refreshes().length, 2);
});

test('no refresh token in the answer: the old one goes on', async t => {
  const { browser, gateway } = await open(t);
  grantCodes(provider(), grantType =>
    grantType === 'refresh_token' ? {} : { refresh_token: 'only' },
  );
  await browser.follow(PAGE, authorize);
  for (const token of ['access-1', 'access-2']) {
    gateway.advance(HOUR + 1);
    assert.equal(await bearer(browser), `Bearer ${token}`);
  }
});

test('invalid_grant: log in again, and the old session is gone', async t => {
  const { browser, gateway } = await open(t);
  grantCodes(provider(), grantType =>
    grantType === 'refresh_token' ? { error: 'invalid_grant' } : { refresh_token: 'r' },
  );
  await browser.follow(PAGE, authorize);
  const id = browser.jar.value(PAGE, SESSION) ?? '';
  gateway.advance(HOUR + 1);
  assert.equal((await browser.visit(PAGE)).status, 303);
  assert.equal(await gateway.filters[0]?.[0]?.sessions.read(id), undefined);
});

for (const [who, status, error] of [
  ['Dex', 400, 'invalid_request'],
  ['UAA', 401, 'invalid_token'],
  ['Entra', 400, 'interaction_required'],
  ['Entra', 400, 'consent_required'],
  ['Auth0', 403, 'mfa_required'],
  ['Auth0', 403, 'access_denied'],
  ['Hydra', 401, 'token_inactive'],
  ['Keycloak', 400, 'invalid_scope'],
  ['a provider with a code of its own', 400, 'refresh_token_expired'],
  ['a provider with prompt=none in mind', 400, 'login_required'],
] as const) {
  test(`${error} (${status}), as ${who} says of a refresh token: log in again`, async t => {
    const { browser, gateway } = await open(t);
    rotate();
    await browser.follow(PAGE, authorize);
    provider().behave('token', () => ({ status, body: { error } }));
    gateway.advance(HOUR + 1);
    const seen = await browser.visit(PAGE);
    assert.equal(seen.status, 303);
    assert.match(seen.reason ?? '', new RegExp(`refused with ${error} \\(${status}\\)`));
  });
}

test('words instead of a code, as Twitch says of a refresh token: log in again', async t => {
  const { browser, gateway } = await open(t);
  rotate();
  await browser.follow(PAGE, authorize);
  const body = { error: 'Bad Request', status: 400, message: 'Invalid refresh token' };
  provider().behave('token', () => ({ status: 400, body }));
  gateway.advance(HOUR + 1);
  assert.equal((await browser.visit(PAGE)).status, 303);
});

test('why a session was not refreshed is told where there is an answer instead of a login, too', async t => {
  const { browser, gateway } = await open(t);
  rotate();
  await browser.follow(PAGE, authorize);
  provider().behave('token', () => ({ status: 400, body: { error: 'invalid_grant' } }));
  gateway.advance(HOUR + 1);
  const { reason, status } = await browser.visit(PAGE, { headers: { upgrade: 'websocket' } });
  assert.equal(status, 401);
  assert.match(reason ?? '', /refused with invalid_grant/);
});

for (const [status, error] of [
  [401, 'invalid_client'],
  [400, 'unauthorized_client'],
  [400, 'unsupported_grant_type'],
  [400, 'temporarily_unavailable'],
  [400, 'server_error'],
  [403, 'Forbidden'],
  [404, 'Not Found'],
  [429, 'access_denied'],
] as const) {
  test(`${error} (${status}) is no fault of the session: it stays`, async t => {
    const { browser, gateway } = await open(t);
    rotate();
    await browser.follow(PAGE, authorize);
    provider().behave('token', () => ({ status, body: { error } }));
    gateway.advance(HOUR + 1);
    await assert.rejects(browser.visit(PAGE), { name: 'ProviderError' });
    grantCodes(provider(), () => ({ access_token: 'again' }));
    gateway.advance(2_000);
    assert.equal(await bearer(browser), 'Bearer again');
  });
}

for (const [claim, value] of [
  ['sub', 'mallory'],
  ['azp', 'client'],
  ['aud', ['client', 'other']],
] as const) {
  test(`a refreshed ID token with another ${claim} ends the session`, async t => {
    const { browser, gateway } = await open(t);
    rotate(grantType => (grantType === 'refresh_token' ? { claims: { [claim]: value } } : {}));
    await browser.follow(PAGE, authorize);
    gateway.advance(HOUR + 1);
    assert.equal((await browser.visit(PAGE)).status, 303);
  });
}

test('the provider is down: the old token as long as it is valid, then an error, and the session stays', async t => {
  const { browser, gateway } = await open(t, { settings: { expirationSafetyMargin: 60_000 } });
  rotate();
  await browser.follow(PAGE, authorize);
  provider().behave('token', () => ({ status: 503, body: '' }));
  gateway.advance(HOUR - 30_000);
  assert.equal(await bearer(browser), 'Bearer access-0');
  gateway.advance(31_000);
  await assert.rejects(browser.visit(PAGE), { name: 'ProviderError', code: 'http_status' });
  rotate();
  grantCodes(provider());
  gateway.advance(2_000);
  assert.equal(await bearer(browser), 'Bearer access-0');
});

test('a failed refresh is not repeated within a second', async t => {
  const { browser, gateway } = await open(t, { settings: { expirationSafetyMargin: 60_000 } });
  rotate();
  await browser.follow(PAGE, authorize);
  provider().behave('token', () => ({ status: 503, body: '' }));
  gateway.advance(HOUR - 30_000);
  for (let index = 0; index < 5; index += 1) await browser.visit(PAGE);
  assert.equal(refreshes().length, 1);
});

for (const [retryAfter, sooner, later] of [
  ['7', 4_000, 3_000],
  ['999999', 25_000, 5_000],
  ['0', 0, 1_000],
  ['Fri, 31 Dec 2100 23:59:59 GMT', 0, 1_000],
] as const) {
  test(`a refresh that is answered 429 is repeated as Retry-After: ${retryAfter} says, after 30 s at the latest`, async t => {
    const { browser, gateway } = await open(t);
    rotate();
    await browser.follow(PAGE, authorize);
    provider().behave('token', () => ({
      status: 429,
      headers: { 'retry-after': retryAfter },
      body: '',
    }));
    gateway.advance(HOUR + 1);
    const refused = { name: 'ProviderError', status: 429 };
    await assert.rejects(browser.visit(PAGE), refused);
    gateway.advance(sooner);
    await assert.rejects(browser.visit(PAGE), refused);
    assert.equal(refreshes().length, 1);
    gateway.advance(later);
    await assert.rejects(browser.visit(PAGE), refused);
    assert.equal(refreshes().length, 2);
  });
}

test('a refresh that outlives the check goes on, and its result is stored', async t => {
  const { browser, gateway } = await open(t);
  grantCodes(provider(), () => ({ refresh_token: 'r' }));
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR + 1);
  const { promise: late, resolve: answer } = Promise.withResolvers<void>();
  grantCodes(provider(), async () => {
    await late;
    return { access_token: 'late', refresh_token: 'r2' };
  });
  const check = new AbortController();
  const request = browser.visit(PAGE, { signal: check.signal });
  await until('the provider is asked', () => refreshes().length === 1);
  check.abort();
  await assert.rejects(request, { code: 'timeout' });
  answer();
  const [[filter] = []] = gateway.filters;
  const id = browser.jar.value(PAGE, SESSION) ?? '';
  await until(
    'it is stored',
    async () => (await filter?.sessions.read(id))?.session.accessToken === 'late',
  );
  assert.equal(await bearer(browser), 'Bearer late');
  assert.equal(refreshes().length, 1);
});

test('a logout during a refresh wins', async t => {
  const { browser, gateway } = await open(t);
  grantCodes(provider(), () => ({ refresh_token: 'r' }));
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR + 1);
  const { promise: late, resolve: answer } = Promise.withResolvers<void>();
  grantCodes(provider(), () => late.then(() => ({ refresh_token: 'r2' })));
  const request = browser.visit(PAGE);
  await until('the provider is asked', () => refreshes().length === 1);
  const [[filter] = []] = gateway.filters;
  const id = browser.jar.value(PAGE, SESSION) ?? '';
  await filter?.sessions.remove(filter.sessions.keyOf(id));
  answer();
  assert.equal((await request).status, 303);
  assert.equal(await filter?.sessions.read(id), undefined);
});

test('a session that is used lives on, and one that is not ends after clientSessionMaxIdle', async t => {
  const { browser, gateway } = await open(t, { settings: { clientSessionMaxIdle: 2 * DAY } });
  rotate();
  await browser.follow(PAGE, authorize);
  for (let day = 0; day < 10; day += 1) {
    gateway.advance(DAY);
    assert.equal((await browser.visit(PAGE)).status, 0, `day ${day}`);
  }
  gateway.advance(2 * DAY + 1);
  assert.equal((await browser.visit(PAGE)).status, 303);
});

test('a store that is gone for a while does not lose a rotated refresh token', async t => {
  const { browser, gateway } = await open(t);
  rotate();
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR + 1);
  const replace = gateway.store.replace.bind(gateway.store);
  let failures = 6;
  gateway.store.replace = (...args) => {
    failures -= 1;
    return failures >= 0 ? Promise.reject(new StoreUnavailable('for a while')) : replace(...args);
  };
  const [[filter] = []] = gateway.filters;
  const id = browser.jar.value(PAGE, SESSION) ?? '';
  const early = bearer(browser).catch(() => {});
  await until(
    'it is stored',
    async () => (await filter?.sessions.read(id))?.session.accessToken === 'access-1',
  );
  await early;
  assert.equal(await bearer(browser), 'Bearer access-1');
  gateway.advance(HOUR + 1);
  assert.equal(await bearer(browser), 'Bearer access-2');
});

test('a lease that was had although the store answered too late is given back', async t => {
  const { browser, gateway } = await open(t);
  rotate();
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR + 1);
  const { acquire, release } = gateway.store;
  const late = new StoreUnavailable('late');
  gateway.store.acquire = async (...args) => {
    await acquire.apply(gateway.store, args);
    throw late;
  };
  gateway.store.release = () => {
    gateway.store.release = release;
    return Promise.reject(late);
  };
  await assert.rejects(browser.visit(PAGE), late);
  gateway.store.acquire = acquire;
  gateway.advance(1_001);
  assert.equal(await bearer(browser), 'Bearer access-1');
});

test('50 requests of one process ask for the lease once', async t => {
  const { browser, gateway } = await open(t);
  rotate();
  await browser.follow(PAGE, authorize);
  gateway.advance(HOUR + 1);
  const acquire = gateway.store.acquire.bind(gateway.store);
  let asked = 0;
  gateway.store.acquire = (...args) => {
    asked += 1;
    return acquire(...args);
  };
  await Promise.all(Array.from({ length: 50 }, () => bearer(browser)));
  assert.equal(asked, 1);
});
