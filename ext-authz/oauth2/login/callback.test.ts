import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnsecuredJWT } from 'jose';
import { isOpenState } from '#ext-authz/oauth2/session/state.ts';
import { authorize, grantCodes } from '#ext-authz/oauth2/testing/code-provider.ts';
import { TestBrowser } from '#ext-authz/oauth2/testing/test-browser.ts';
import { REALM } from '#ext-authz/oauth2/testing/test-gateway.ts';
import { useWorld } from '#ext-authz/oauth2/testing/world.ts';

const { open, provider } = useWorld();
const PAGE = 'https://a.test/page';
const CALLBACK = 'https://a.test/.gateway/oauth2/redirection-endpoint';

/** Begins a login. Returns where the provider would send the browser back to. */
async function begin(browser: TestBrowser, visit = {}): Promise<string> {
  const { location } = await browser.visit(PAGE, visit);
  return authorize(new URL(location ?? ''));
}

function without(browser: TestBrowser, kind: string): boolean {
  return !browser.jar.all().some(({ name }) => name.includes(`gateway_${kind}`));
}

function changed(callback: string, change: (query: URLSearchParams) => void): string {
  const url = new URL(callback);
  change(url.searchParams);
  return url.href;
}

for (const method of ['POST', 'HEAD', 'PUT', 'OPTIONS']) {
  test(`${method} at the callback: 405 with Allow`, async t => {
    const { browser } = await open(t);
    const seen = await browser.visit(await begin(browser), { method });
    assert.deepEqual([seen.status, seen.headers.get('allow')], [405, 'GET']);
  });
}

test('another browser: 403 and no session, and the login still ends in its own', async t => {
  const { browser, gateway } = await open(t);
  const callback = await begin(browser);
  const stranger = new TestBrowser(gateway);
  const seen = await stranger.visit(callback);
  assert.match(seen.reason ?? '', /cookie __Host-gateway_pending\.site\.default .* did not come/);
  assert.deepEqual([seen.status, seen.setCookies], [403, []]);
  assert.equal(provider().asked('token').length, 0);
  assert.equal((await browser.visit(callback)).status, 303);
});

test('another browser that has begun a login of its own: 403 and no session', async t => {
  const { browser, gateway } = await open(t);
  const callback = await begin(browser);
  const stranger = new TestBrowser(gateway);
  await begin(stranger);
  assert.equal((await stranger.visit(callback)).status, 403);
  assert.ok(without(stranger, 'session'));
});

test('another browser that is logged in: 403, and its session stays', async t => {
  const { browser, gateway } = await open(t);
  const callback = await begin(browser);
  const stranger = new TestBrowser(gateway);
  await stranger.follow(PAGE, authorize);
  const id = stranger.jar.value(PAGE, `__Host-gateway_session.${REALM}`);
  assert.equal((await stranger.visit(callback)).status, 403);
  assert.equal(stranger.jar.value(PAGE, `__Host-gateway_session.${REALM}`), id);
  assert.equal((await stranger.visit(PAGE)).status, 0);
});

test('two different pending cookies: none counts', async t => {
  const { browser } = await open(t);
  const callback = await begin(browser);
  const value = browser.jar.value(PAGE, `__Host-gateway_pending.${REALM}`);
  const cookie = `__Host-gateway_pending.${REALM}=${value}; __Host-gateway_pending.${REALM}=${'0'.repeat(64)}`;
  assert.equal((await browser.visit(callback, { headers: { cookie } })).status, 403);
});

test('a state counts once: replayed when logged in, 303 to /, else a 400 page that offers to start again', async t => {
  const { browser, gateway } = await open(t);
  const callback = await begin(browser);
  assert.equal((await browser.visit(callback)).status, 303);
  const again = await browser.visit(callback);
  assert.deepEqual([again.status, again.location, again.setCookies], [303, 'https://a.test/', []]);
  const stranger = new TestBrowser(gateway);
  const page = await stranger.visit(callback, { headers: { accept: 'text/html' } });
  assert.equal(page.status, 400);
  assert.match(page.body, /<a href="\/">Start again<\/a>/);
  assert.equal(provider().asked('token').length, 1);
});

test('of two callbacks of one login, as after a double click, the later one offers to start again at the page', async t => {
  const { browser } = await open(t);
  const callback = await begin(browser);
  const accept = { headers: { accept: 'text/html' } };
  const seen = await Promise.all([1, 2].map(() => browser.visit(callback, accept)));
  assert.deepEqual(seen.map(({ status }) => status).sort(), [303, 400]);
  const [link] = seen.flatMap(({ body }) => /<a href="[^"]*">Start again<\/a>/.exec(body) ?? []);
  assert.equal(link, `<a href="${PAGE}">Start again</a>`);
});

for (const [name, value] of [
  ['sec-purpose', 'prefetch'],
  ['sec-purpose', 'prefetch;prerender'],
  ['purpose', 'prefetch'],
  ['x-purpose', 'preview'],
  ['x-moz', 'prefetch'],
] as const) {
  test(`a callback that the browser fetches ahead (${name}: ${value}) ends no login: 503, and the user's own does`, async t => {
    const { browser } = await open(t);
    const callback = await begin(browser);
    const ahead = await browser.visit(callback, { headers: { [name]: value } });
    assert.deepEqual([ahead.status, ahead.setCookies], [503, []]);
    assert.equal(provider().asked('token').length, 0);
    const seen = await browser.follow(callback, authorize);
    assert.deepEqual([seen.status, seen.url], [0, PAGE]);
  });
}

test('a login that began at one replica ends at another', async t => {
  const { browser } = await open(t, { replicas: 2 });
  const callback = await begin(browser);
  assert.equal((await browser.visit(callback, { replica: 1 })).status, 303);
  assert.equal((await browser.visit(PAGE)).status, 0);
});

test('a state counts once though its cookie is kept: no second session, here or at another replica', async t => {
  const { browser } = await open(t, { replicas: 2 });
  const callback = await begin(browser);
  const cookie = browser.jar.all().map(({ name, value }) => `${name}=${value}`);
  assert.equal((await browser.visit(callback)).status, 303);
  for (const replica of [0, 1]) {
    const seen = await browser.visit(callback, { replica, headers: { cookie } });
    assert.deepEqual([seen.status, seen.setCookies], [400, []]);
  }
  assert.equal(provider().asked('token').length, 1);
});

test('of 50 callbacks with one state one makes a session', async t => {
  const { browser } = await open(t);
  const callback = await begin(browser);
  const seen = await Promise.all(Array.from({ length: 50 }, () => browser.visit(callback)));
  assert.equal(seen.filter(({ setCookies }) => setCookies.length > 0).length, 1);
  assert.equal(provider().asked('token').length, 1);
});

test('a state expires after ten minutes', async t => {
  const { browser, gateway } = await open(t);
  const callback = await begin(browser);
  gateway.advance(600_001);
  assert.equal((await browser.visit(callback)).status, 400);
});

function appendTwice(query: URLSearchParams, name: string): void {
  query.append(name, 'x');
  query.append(name, 'x');
}

const ALTERED: readonly [what: string, change: (query: URLSearchParams) => void][] = [
  ['no state', query => query.delete('state')],
  ['an empty state', query => query.set('state', '')],
  ['an unknown state', query => query.set('state', 'ab'.repeat(32))],
  [
    'a state of other letters',
    query => query.set('state', query.get('state')?.toUpperCase() ?? ''),
  ],
  ['a state of a million letters', query => query.set('state', 'a'.repeat(1_000_000))],
  ['a state of odd unicode', query => query.set('state', '\u{1f600}\ud800')],
  ['a repeated state', query => query.append('state', query.get('state') ?? '')],
  ['a repeated code', query => query.append('code', 'other')],
  ['a repeated iss', query => appendTwice(query, 'iss')],
  ['no code', query => query.delete('code')],
  ['an empty code', query => query.set('code', '')],
  ['a hand-off beside', query => query.set('handoff', 'ab'.repeat(32))],
];

for (const [what, change] of ALTERED) {
  test(`a callback with ${what}: 400 and no session`, async t => {
    const { browser } = await open(t);
    const seen = await browser.visit(changed(await begin(browser), change));
    assert.equal(seen.status, 400);
    assert.ok(without(browser, 'session'));
    assert.equal(provider().asked('token').length, 0);
  });
}

test('a state of another realm is unknown where only that realm is asked', async t => {
  const { browser, gateway } = await open(t, { realms: [REALM, 'other.default'] });
  const callback = await begin(browser, { realm: 'other.default' });
  const state = new URL(callback).searchParams.get('state') ?? '';
  assert.deepEqual(
    gateway.filters[0]?.map(filter => isOpenState(filter, state)),
    [false, true],
  );
  assert.equal((await browser.visit(callback)).status, 303);
  assert.ok(browser.jar.value(PAGE, '__Host-gateway_session.other.default'));
  assert.equal(browser.jar.value(PAGE, `__Host-gateway_session.${REALM}`), undefined);
});

test('a state on another protected origin: 403 and no session', async t => {
  const { browser } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
  const callback = await begin(browser);
  const cookie = `__Host-gateway_pending.${REALM}=${browser.jar.value(PAGE, `__Host-gateway_pending.${REALM}`)}`;
  const seen = await browser.visit(callback.replace('a.test', 'b.test'), { headers: { cookie } });
  assert.deepEqual([seen.status, seen.setCookies], [403, []]);
});

test('an injected code of another login is refused by its nonce', async t => {
  const { browser, gateway } = await open(t);
  const stolen = new URL(await begin(new TestBrowser(gateway))).searchParams.get('code') ?? '';
  const callback = changed(await begin(browser), query => query.set('code', stolen));
  await assert.rejects(browser.visit(callback), { code: 'invalid_id_token' });
  assert.ok(without(browser, 'session'));
});

const iss = (value?: string) => (query: URLSearchParams) => {
  if (value !== undefined) query.set('iss', value);
};

test('iss of another issuer is refused, of this one taken, and required where the provider promises it', async t => {
  const { browser } = await open(t);
  await assert.rejects(browser.visit(changed(await begin(browser), iss('https://evil.test'))), {
    code: 'issuer_mismatch',
  });
  assert.equal(
    (await browser.visit(changed(await begin(browser), iss(provider().issuer)))).status,
    303,
  );
  provider().behave('discovery', () => ({
    body: { ...provider().discovery(), authorization_response_iss_parameter_supported: true },
  }));
  const strict = await open(t);
  await assert.rejects(strict.browser.visit(await begin(strict.browser)), {
    code: 'issuer_mismatch',
  });
  const denied = changed(await begin(strict.browser), query => query.set('error', 'access_denied'));
  await assert.rejects(strict.browser.visit(denied), { code: 'issuer_mismatch' });
});

const ERRORS: readonly [error: string, status: number, shown: RegExp][] = [
  ['access_denied', 403, /access_denied/],
  ['login_required', 502, /login_required/],
  ['server_error', 502, /server_error/],
  ['<script>alert(1)</script>', 502, /unrecognised/],
  ['', 502, /unrecognised/],
];

for (const [error, status, shown] of ERRORS) {
  test(`error=${error}: a ${status} page that names known codes only`, async t => {
    const { browser } = await open(t);
    const callback = changed(await begin(browser), query => {
      query.delete('code');
      query.set('error', error);
      query.set('error_description', '<b>evil</b>');
    });
    const seen = await browser.visit(callback, { headers: { accept: 'text/html' } });
    assert.equal(seen.status, status);
    assert.match(seen.body, shown);
    assert.doesNotMatch(seen.body, /<script|evil/);
    assert.match(seen.body, /<a href="https:\/\/a\.test\/page">Start again<\/a>/);
    assert.ok(without(browser, 'session'));
  });
}

const STATELESS: readonly [what: string, change: (query: URLSearchParams) => void][] = [
  ['without state', query => query.delete('state')],
  ['with an empty state', query => query.set('state', '')],
];

for (const [what, change] of STATELESS) {
  test(`an error ${what} is of the login that the browser began last, and ends none`, async t => {
    const { browser } = await open(t);
    await begin(browser, { url: 'https://a.test/first' });
    const callback = await begin(browser);
    const bad = changed(callback, query => {
      query.delete('code');
      query.set('error', 'access_denied');
      change(query);
    });
    const seen = await browser.visit(bad, { headers: { accept: 'text/html' } });
    assert.equal(seen.status, 403);
    assert.match(seen.body, /You were denied access/);
    assert.match(seen.body, /<a href="https:\/\/a\.test\/page">Start again<\/a>/);
    assert.deepEqual(seen.setCookies, []);
    assert.equal((await browser.visit(callback)).status, 303);
  });
}

test('an error without state in a browser that began no login: 400', async t => {
  const { browser } = await open(t);
  const seen = await browser.visit(
    changed(await begin(browser), query => {
      query.delete('state');
      query.set('error', 'access_denied');
    }),
    { headers: { cookie: '' } },
  );
  assert.equal(seen.status, 400);
  assert.doesNotMatch(seen.body, /denied/);
});

test('a refused code: a 502 page that names the error code', async t => {
  const { browser } = await open(t);
  grantCodes(provider(), () => ({ error: 'invalid_grant' }));
  const seen = await browser.visit(await begin(browser));
  assert.equal(seen.status, 502);
  assert.match(seen.body, /invalid_grant/);
  assert.ok(without(browser, 'session'));
});

test('an answer without ID token: a 502 page', async t => {
  const { browser } = await open(t);
  grantCodes(provider(), () => ({ id_token: undefined }));
  const seen = await browser.visit(await begin(browser));
  assert.equal(seen.status, 502);
  assert.match(seen.body, /no ID token/);
});

for (const [ago, status] of [
  [undefined, 303],
  [85, 303],
  [100, 502],
] as const) {
  test(`with max_age 60, auth_time of ${ago ?? 'no'} s ago is answered ${status}`, async t => {
    const extraAuthorizationParameters = new Map([['max_age', '60']]);
    const { browser } = await open(t, { settings: { extraAuthorizationParameters } });
    const auth_time = ago === undefined ? undefined : Math.floor(Date.now() / 1_000) - ago;
    grantCodes(provider(), () => ({ claims: { auth_time } }));
    const seen = await browser.visit(await begin(browser));
    assert.equal(seen.status, status);
    if (status === 502) assert.match(seen.body, /`auth_time`.* `max_age` is 60 s/);
  });
}

test('a user who takes long at the provider does not exceed max_age by it', async t => {
  const extraAuthorizationParameters = new Map([['max_age', '60']]);
  const { browser, gateway } = await open(t, { settings: { extraAuthorizationParameters } });
  const auth_time = Math.floor(Date.now() / 1_000);
  grantCodes(provider(), () => ({ claims: { auth_time } }));
  const callback = await begin(browser);
  gateway.advance(300_000);
  assert.equal((await browser.visit(callback)).status, 303);
});

test('an access token that is refused in the callback: a 502 page that names the check, no redirect', async t => {
  const { browser, gateway } = await open(t);
  gateway.judge(() => ({ kind: 'invalid', check: 'its `exp` is over' }));
  const seen = await browser.visit(await begin(browser));
  assert.deepEqual([seen.status, seen.location, seen.setCookies], [502, undefined, []]);
  assert.match(seen.body, /its `exp` is over/);
});

test('an access token that ends within expirationSafetyMargin: a 502 page, no loop', async t => {
  const { browser } = await open(t, { settings: { expirationSafetyMargin: 3_600_000 } });
  const seen = await browser.visit(await begin(browser));
  assert.deepEqual([seen.status, seen.location], [502, undefined]);
  assert.match(seen.body, /expirationSafetyMargin/);
});

test('an access token for which no request has room: a 502 page that says so, and no session', async t => {
  const { browser } = await open(t);
  grantCodes(provider(), () => ({ access_token: 'a'.repeat(70_000) }));
  const seen = await browser.visit(await begin(browser));
  assert.deepEqual([seen.status, seen.setCookies], [502, []]);
  assert.match(seen.body, /is too large: 70007 bytes as a header/);
  assert.doesNotMatch(seen.body, /aaaa/);
});

test('an access token that has expired already: a 502 page that says so', async t => {
  const { browser } = await open(t);
  const access_token = new UnsecuredJWT({ exp: 1 }).encode();
  grantCodes(provider(), () => ({ access_token }));
  const seen = await browser.visit(await begin(browser));
  assert.equal(seen.status, 502);
  assert.match(seen.body, /has expired already/);
  assert.doesNotMatch(seen.body, /expirationSafetyMargin/);
});

test('cookies of an access token that ends in any far future have an age that browsers read', async t => {
  for (const exp of [1e15, 1e300]) {
    const { browser } = await open(t);
    const access_token = new UnsecuredJWT({ exp }).encode();
    grantCodes(provider(), () => ({ access_token, expires_in: undefined }));
    const { setCookies } = await browser.visit(await begin(browser));
    const kept = setCookies.filter(field => !/Max-Age=0(?:;|$)/.test(field));
    assert.equal(kept.length, 3);
    for (const field of kept) assert.match(field, /; Max-Age=2147483647(?:;|$)/);
  }
});

test('every answer of the callback is not cached and tells no referrer', async t => {
  const { browser } = await open(t);
  const callback = await begin(browser);
  for (const seen of [await browser.visit(callback), await browser.visit(`${CALLBACK}?state=x`)]) {
    assert.equal(seen.headers.get('cache-control'), 'no-store');
    assert.equal(seen.headers.get('referrer-policy'), 'no-referrer');
  }
});
