import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { authorize } from '#ext-authz/oauth2/testing/code-provider.ts';
import { REALM } from '#ext-authz/oauth2/testing/test-gateway.ts';
import { useWorld } from '#ext-authz/oauth2/testing/world.ts';

const { open, provider } = useWorld();
const PAGE = 'https://a.test/deep/page?x=1&y=%C3%A4';

test('a request without session is sent to the provider with 303', async t => {
  const { browser } = await open(t, {
    settings: { extraAuthorizationParameters: new Map([['prompt', 'login']]) },
  });
  const { location, status } = await browser.visit(PAGE, { scope: ['b', 'a', 'b'] });
  assert.equal(status, 303);
  const url = new URL(location ?? '');
  assert.equal(url.origin + url.pathname, `${provider().issuer}/authorize`);
  const parameters = Object.fromEntries(url.searchParams);
  assert.match(parameters.state ?? '', /^[\w-]{43}$/);
  assert.match(parameters.nonce ?? '', /^[\w-]{43}$/);
  assert.notEqual(parameters.state, parameters.nonce);
  assert.match(parameters.code_challenge ?? '', /^[\w-]{43}$/);
  const { code_challenge, nonce, state, ...others } = parameters;
  assert.deepEqual(others, {
    response_type: 'code',
    client_id: 'client',
    redirect_uri: 'https://a.test/.gateway/oauth2/redirection-endpoint',
    scope: 'a b openid',
    code_challenge_method: 'S256',
    prompt: 'login',
  });
});

test('after the login the browser is where it wanted to go, and its requests have the access token', async t => {
  const { browser } = await open(t);
  const seen = await browser.follow(PAGE, authorize);
  assert.deepEqual([seen.url, seen.status], [PAGE, 0]);
  assert.equal(seen.change?.set.get('authorization'), 'Bearer access-0');
  assert.deepEqual(seen.way.filter(step => step === 'provider').length, 1);
});

test('the token endpoint gets the code verifier of the challenge', async t => {
  const { browser } = await open(t);
  await browser.follow(PAGE, authorize);
  const [asked] = provider().asked('token');
  assert.match(asked?.form.get('code_verifier') ?? '', /^[\w-]{43}$/);
  assert.equal(
    asked?.form.get('redirect_uri'),
    'https://a.test/.gateway/oauth2/redirection-endpoint',
  );
});

test('the session cookies: attributes and values', async t => {
  const { browser } = await open(t);
  await browser.follow(PAGE, authorize);
  const [session, xsrf, own] = ['gateway_session', 'gateway_xsrf', '__Host-gateway_session'].map(
    kind => browser.jar.all().find(({ name }) => name === `${kind}.${REALM}`),
  );
  assert.equal(own?.value, session?.value);
  assert.deepEqual([...(own?.attributes.keys() ?? [])], ['path', 'max-age', 'httponly', 'secure']);
  assert.match(session?.value ?? '', /^[0-9a-f]{64}$/);
  assert.match(xsrf?.value ?? '', /^[0-9a-f]{64}$/);
  assert.notEqual(session?.value, xsrf?.value);
  assert.deepEqual(
    [...(session?.attributes.keys() ?? [])],
    ['path', 'max-age', 'httponly', 'secure'],
  );
  assert.deepEqual([...(xsrf?.attributes.keys() ?? [])], ['path', 'max-age', 'secure']);
  assert.ok(Math.abs(Number(session?.attributes.get('max-age')) - 3600) <= 1);
  assert.equal(session?.path, '/');
});

test('the pending cookie: host-only, HttpOnly, Lax, ten minutes, gone after the login', async t => {
  const { browser } = await open(t, {
    origins: [{ origin: 'https://a.test', includeSubdomains: true }],
  });
  const { location = '', setCookies } = await browser.visit(PAGE, { sameSite: 'none' });
  assert.match(
    setCookies.join('\n'),
    /^__Host-gateway_pending\.site\.default=[\w-]+; Path=\/; Max-Age=600; HttpOnly; Secure; SameSite=Lax$/,
  );
  await browser.follow(authorize(new URL(location)), authorize);
  assert.ok(!browser.jar.all().some(({ name }) => name.includes('gateway_pending')));
});

test('http origins have cookies without Secure', async t => {
  const { browser } = await open(t, { origins: ['http://a.test'] });
  const seen = await browser.follow('http://a.test/', authorize);
  assert.equal(seen.status, 0);
  assert.ok(browser.jar.all().every(({ attributes }) => !attributes.has('secure')));
});

for (const [sameSite, text] of [
  ['lax', 'Lax'],
  ['none', 'None'],
  ['strict', 'Strict'],
] as const) {
  test(`sameSite ${sameSite} logs in, and is an attribute of both cookies`, async t => {
    const { browser } = await open(t);
    const seen = await browser.follow(PAGE, authorize, { sameSite });
    assert.deepEqual([seen.url, seen.status], [PAGE, 0]);
    assert.equal(seen.way.filter(step => step === 'provider').length, 1);
    assert.deepEqual(
      ['session', 'xsrf'].map(kind =>
        browser.jar
          .all()
          .find(({ name }) => name === `gateway_${kind}.${REALM}`)
          ?.attributes.get('samesite'),
      ),
      [text, text],
    );
  });
}

test('with sameSite strict the callback moves on by a page', async t => {
  const { browser } = await open(t);
  const { location } = await browser.visit(PAGE, { sameSite: 'strict' });
  const seen = await browser.visit(authorize(new URL(location ?? '')), { crossSite: true });
  assert.equal(seen.status, 200);
  assert.match(
    seen.body,
    /<meta http-equiv="refresh" content="0; url=https:\/\/a\.test\/deep\/page\?x=1&amp;y=/,
  );
  assert.match(seen.headers.get('content-type') ?? '', /text\/html/);
});

test('useSessionCookies: cookies without expiry, by the header of the request that began the login', async t => {
  const ifRequestHeader = { name: 'x-kiosk', negate: false };
  const { browser } = await open(t, {
    settings: { useSessionCookies: { value: true, ifRequestHeader } },
  });
  const maxAges = () => browser.jar.all().map(({ attributes }) => attributes.has('max-age'));
  await browser.follow(PAGE, authorize, { headers: { 'x-kiosk': '1' } });
  assert.deepEqual(maxAges(), [false, false, false]);
  const other = await open(t, {
    settings: { useSessionCookies: { value: true, ifRequestHeader } },
  });
  await other.browser.follow(PAGE, authorize);
  assert.deepEqual(
    other.browser.jar.all().map(({ attributes }) => attributes.has('max-age')),
    [true, true, true],
  );
});

for (const sameSite of [undefined, 'lax', 'strict', 'none'] as const) {
  test(`two tabs log in at the same time, sameSite ${sameSite}`, async t => {
    const { browser } = await open(t);
    const one = await browser.visit('https://a.test/one', { sameSite });
    const two = await browser.visit('https://a.test/two', { sameSite });
    const ends = [];
    for (const { location } of [one, two])
      ends.push(
        await browser.follow(authorize(new URL(location ?? '')), authorize, { crossSite: true }),
      );
    assert.deepEqual(
      ends.map(({ status, url }) => [status, url]),
      [
        [0, 'https://a.test/one'],
        [0, 'https://a.test/two'],
      ],
    );
  });
}

test('two tabs that need different scopes: both end at their pages, and the login is for both', async t => {
  const { browser } = await open(t);
  const one = await browser.visit('https://a.test/one', { scope: ['read'] });
  const two = await browser.visit('https://a.test/two', { scope: ['write'] });
  await browser.visit(authorize(new URL(one.location ?? '')));
  const end = await browser.follow(authorize(new URL(two.location ?? '')), authorize, {
    scope: ['write'],
  });
  assert.deepEqual([end.status, end.url], [0, 'https://a.test/two']);
  assert.equal((await browser.visit('https://a.test/one', { scope: ['read'] })).status, 0);
});

test('a login makes a new session id and xsrf token, and ends the session that was there', async t => {
  const { browser, gateway } = await open(t);
  await browser.follow(PAGE, authorize);
  const ids = () => browser.jar.all().map(({ value }) => value);
  const before = ids();
  gateway.judge(accessToken =>
    accessToken === 'access-0' ? { kind: 'invalid', check: 'revoked' } : { kind: 'valid' },
  );
  const seen = await browser.follow(PAGE, authorize);
  assert.equal(seen.status, 0);
  assert.ok(ids().every(value => !before.includes(value)));
  const [old = ''] = before;
  assert.equal(await gateway.filters[0]?.[0]?.sessions.read(old), undefined);
});

test('a step-up ends the old session though the callback does not bring its cookie, which is strict', async t => {
  const { browser, gateway } = await open(t);
  await browser.follow(PAGE, authorize, { sameSite: 'strict' });
  const old = browser.jar.value(PAGE, `__Host-gateway_session.${REALM}`) ?? '';
  await browser.follow(PAGE, authorize, { sameSite: 'strict', scope: ['more'] });
  assert.notEqual(browser.jar.value(PAGE, `__Host-gateway_session.${REALM}`), old);
  assert.equal(await gateway.filters[0]?.[0]?.sessions.read(old), undefined);
});

test('a planted session id is not taken over', async t => {
  const { browser } = await open(t);
  const planted = 'ab'.repeat(32);
  browser.jar.take(
    new URL(PAGE),
    `__Host-gateway_session.${REALM}=${planted}; Path=/; HttpOnly; Secure`,
  );
  await browser.follow(PAGE, authorize);
  assert.notEqual(browser.jar.value(PAGE, `__Host-gateway_session.${REALM}`), planted);
});

test('an origin that is not protected: 403, no redirect, no cookie', async t => {
  const { browser } = await open(t);
  for (const url of [
    'https://b.test/',
    'http://a.test/',
    'https://b.test:8443/',
    'https://sub.a.test/',
  ]) {
    const seen = await browser.visit(url);
    assert.deepEqual([seen.status, seen.location, seen.setCookies], [403, undefined, []]);
  }
});

test('behind a proxy that ends TLS and is not counted, the log names the origin as it came in, and the setting', async t => {
  const { browser } = await open(t);
  const { reason = '' } = await browser.visit(PAGE, { internal: 'http://a.test' });
  assert.match(reason, /^no item of protectedOrigins is at http:\/\/a\.test\b/);
  assert.match(reason, /xff_num_trusted_hops/);
  const other = await browser.visit('https://b.test/');
  assert.equal(other.reason, 'no item of protectedOrigins is at https://b.test');
});

test('a cookie of one realm is nothing in another', async t => {
  const { browser } = await open(t, { realms: [REALM, 'other.default'] });
  await browser.follow(PAGE, authorize);
  const id = browser.jar.value(PAGE, `__Host-gateway_session.${REALM}`) ?? '';
  browser.jar.take(new URL(PAGE), `__Host-gateway_session.other.default=${id}; Path=/; Secure`);
  assert.equal((await browser.visit(PAGE, { realm: 'other.default' })).status, 303);
  assert.equal((await browser.visit(PAGE)).status, 0);
});

test('two different session cookies: none counts, both forms are cleared, and the log says so', async t => {
  const { browser } = await open(t, {
    origins: [{ origin: 'https://a.test', includeSubdomains: true }],
  });
  await browser.follow(PAGE, authorize);
  const name = `gateway_session.${REALM}`;
  browser.jar.take(new URL(PAGE), `${name}=${'cd'.repeat(32)}; Path=/; Secure`);
  const { reason = '', status } = await browser.visit(PAGE);
  assert.equal(status, 303);
  assert.match(reason, /^the cookie .* has several values, so none counts/);
  assert.ok(!browser.jar.all().some(cookie => cookie.name === name));
});

test('the same session cookie twice counts', async t => {
  const { browser } = await open(t);
  await browser.follow(PAGE, authorize);
  const cookie = browser.jar
    .all()
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ');
  const seen = await browser.visit(PAGE, { headers: { cookie: [cookie, cookie] } });
  assert.equal(seen.status, 0);
});

test('a cookie that names no session is cleared on the way to the provider', async t => {
  const { browser } = await open(t);
  browser.jar.take(
    new URL(PAGE),
    `__Host-gateway_session.${REALM}=${'0'.repeat(64)}; Path=/; Secure`,
  );
  await browser.visit(PAGE);
  assert.deepEqual(
    browser.jar.all().map(({ name }) => name),
    [`__Host-gateway_pending.${REALM}`],
  );
});

test('a bearer token of the client does not skip the login', async t => {
  const { browser } = await open(t);
  assert.equal(
    (await browser.visit(PAGE, { headers: { authorization: 'Bearer access-0' } })).status,
    303,
  );
});

test('a browser keeps 16 logins that it has begun: the 17th drops the first', async t => {
  const { browser } = await open(t);
  const urls = [];
  for (let index = 0; index < 17; index += 1) urls.push((await browser.visit(PAGE)).location ?? '');
  const [first, second] = urls.map(url => authorize(new URL(url)));
  assert.equal((await browser.visit(first ?? '')).status, 403);
  assert.equal((await browser.visit(second ?? '')).status, 303);
});

/** Characters that no compression makes shorter than six bits each. */
const random = (length: number) => randomBytes(length).toString('base64url').slice(0, length);

for (const length of [2_049, 4_000, 8_192]) {
  test(`a link of ${length} characters survives a login, also at a second origin, beside others in 16 tabs`, async t => {
    for (const origin of ['https://a.test', 'https://b.test']) {
      const { browser } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
      const links = Array.from({ length: 16 }, () =>
        `${origin}/?q=${random(length)}`.slice(0, length),
      );
      const begun: string[] = [];
      for (const link of links) {
        const { location = '' } = await browser.visit(link, {
          headers: { 'sec-fetch-mode': 'navigate' },
        });
        begun.push(location);
        const cookies = browser.jar.for(new URL(origin));
        const bytes = cookies.reduce(
          (sum, { name, value }) => sum + name.length + value.length + 3,
          0,
        );
        assert.ok(bytes <= 25 * 1024, `${bytes} bytes`);
        for (const { name, value } of cookies) assert.ok(name.length + value.length <= 4_096);
      }
      const last = begun.at(-1) ?? '';
      const end = origin === 'https://a.test' ? authorize(new URL(last)) : last;
      const seen = await browser.follow(end, authorize);
      assert.deepEqual([seen.status, seen.url], [0, links.at(-1)]);
    }
  });
}

test('a link that is longer leads to the first page', async t => {
  const { browser } = await open(t);
  const seen = await browser.follow(`https://a.test/?q=${random(8_192)}`, authorize);
  assert.deepEqual([seen.status, seen.url], [0, 'https://a.test/']);
});

test('16 tabs at once with ordinary links take a small part of what Envoy takes of headers', async t => {
  const { browser } = await open(t);
  const links = Array.from(
    { length: 16 },
    (_, index) => `https://a.test/projects/${index}/board?view=${random(40)}`,
  );
  const headers = { 'sec-fetch-mode': 'navigate' };
  await Promise.all(
    links.map(link => browser.visit(link, { headers, scope: ['profile', 'email'] })),
  );
  const bytes = browser.jar
    .all()
    .reduce((sum, { name, value }) => sum + name.length + value.length + 3, 0);
  assert.ok(bytes < 16 * 512, `${bytes} bytes`);
});

test('64 tabs that a browser opens at once all end at their pages', async t => {
  const { browser } = await open(t);
  const links = Array.from({ length: 64 }, (_, index) => `https://a.test/projects/${index}`);
  const headers = { 'sec-fetch-mode': 'navigate' };
  const begun = await Promise.all(links.map(link => browser.visit(link, { headers })));
  for (const [index, { location = '' }] of begun.entries()) {
    const { status, url } = await browser.follow(authorize(new URL(location)), authorize);
    assert.deepEqual([status, url], [0, links[index]]);
  }
});

test('the provider is down: the error is thrown, nothing is stored for the browser', async t => {
  const { browser } = await open(t);
  provider().behave('discovery', () => 'hang up');
  await assert.rejects(browser.visit(PAGE), { name: 'ProviderError' });
});

test('a provider that does not answer in its time: a timeout', async t => {
  const { browser } = await open(t, { deadlineMs: 50 });
  provider().behave('discovery', () => 'hang');
  await assert.rejects(browser.visit(PAGE), { name: 'ProviderError', code: 'timeout' });
});
