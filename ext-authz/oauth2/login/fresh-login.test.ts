import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, grantCodes } from '#ext-authz/oauth2/testing/code-provider.ts';
import type { TestBrowser } from '#ext-authz/oauth2/testing/test-browser.ts';
import { REALM } from '#ext-authz/oauth2/testing/test-gateway.ts';
import { useWorld } from '#ext-authz/oauth2/testing/world.ts';
import { promptOf } from './fresh-login.ts';

const { open, provider } = useWorld();
const PAGE = 'https://a.test/page?of=alice';
const SESSION = `gateway_session.${REALM}`;
const HTML = { accept: 'text/html' };
const ADMIN = { scope: ['admin'], headers: HTML };

/** Alice may not do what Bob may. */
function grantAdminTo(name: string) {
  let user = 'alice';
  grantCodes(provider(), () => ({
    scope: user === name ? 'openid admin' : 'openid',
    claims: { sub: user },
  }));
  return {
    logInAs: (other: string) => {
      user = other;
    },
  };
}

const linkOf = (body: string, text: string) =>
  new RegExp(`<a href="([^"]+)">${text}</a>`).exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';
const freshUrl = (changes: Record<string, string> = {}, origin = 'https://a.test') =>
  `${origin}/.gateway/oauth2/login?${new URLSearchParams({ realm: REALM, return: PAGE, ...changes })}`;
const begin = async (browser: TestBrowser, url: string) => {
  const { location = '', status } = await browser.visit(url, { headers: HTML });
  return { status, url: new URL(location, url) };
};

test('a user who lacks a scope is told so, and a link logs in as another user and leads to the page', async t => {
  const { browser, gateway } = await open(t);
  const { logInAs } = grantAdminTo('bob');
  const refused = await browser.follow(PAGE, authorize, ADMIN);
  assert.equal(refused.status, 403);
  assert.match(refused.body, /<h1>Your account may not see this page<\/h1>/);
  assert.match(refused.body, /request ID <code>request-1<\/code>/);
  const before = browser.jar.value(PAGE, SESSION) ?? '';

  const asked: URLSearchParams[] = [];
  logInAs('bob');
  const seen = await browser.follow(
    linkOf(refused.body, 'Log in as someone else'),
    url => {
      asked.push(url.searchParams);
      return authorize(url);
    },
    ADMIN,
  );
  assert.deepEqual([seen.status, seen.url], [0, PAGE]);
  assert.deepEqual(
    asked.map(query => [query.get('prompt'), query.get('scope')]),
    [['login', 'admin openid']],
  );
  assert.notEqual(browser.jar.value(PAGE, SESSION), before);
  assert.equal(await gateway.filters[0]?.[0]?.sessions.read(before), undefined);
});

test('the rule of the page decides about scope and SameSite, so that one login suffices', async t => {
  const { browser } = await open(t);
  const rule = { ...ADMIN, sameSite: 'strict' } as const;
  const seen = await browser.follow(freshUrl(), authorize, rule);
  assert.deepEqual([seen.status, seen.url], [0, PAGE]);
  assert.equal(seen.way.filter(step => step === 'provider').length, 1);
  for (const name of [SESSION, `gateway_xsrf.${REALM}`]) {
    const cookie = browser.jar.all().find(each => each.name === name);
    assert.equal(cookie?.attributes.get('samesite'), 'Strict');
  }
});

test('the session stays until the other login has succeeded', async t => {
  const { browser } = await open(t);
  await browser.follow(PAGE, authorize);
  const { status, url } = await begin(browser, freshUrl());
  assert.deepEqual([status, url.searchParams.get('prompt')], [303, 'login']);
  assert.equal((await browser.visit(PAGE)).status, 0);
  const denied = new URL(authorize(url));
  denied.searchParams.delete('code');
  denied.searchParams.set('error', 'access_denied');
  const seen = await browser.visit(denied.href, { headers: HTML });
  assert.equal(seen.status, 403);
  assert.equal(linkOf(seen.body, 'Log in as someone else'), freshUrl());
  assert.equal((await browser.visit(PAGE)).status, 0);
});

test('from another origin of the Filter it leads back there', async t => {
  const { browser } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
  const { logInAs } = grantAdminTo('bob');
  const there = 'https://b.test/page';
  const refused = await browser.follow(there, authorize, ADMIN);
  assert.equal(refused.status, 403);
  const link = linkOf(refused.body, 'Log in as someone else');
  assert.ok(link.startsWith('https://a.test/.gateway/oauth2/login?'), link);
  logInAs('bob');
  const seen = await browser.follow(link, authorize, ADMIN);
  assert.deepEqual([seen.status, seen.url], [0, there]);
});

for (const [text, origins, back] of [
  ['https://evil.test/', ['https://a.test'], 'https://a.test/'],
  ['//evil.test/', ['https://a.test'], 'https://a.test/'],
  ['javascript:alert(1)', ['https://a.test'], 'https://a.test/'],
  ['https://a.test@evil.test/', ['https://a.test'], 'https://a.test/'],
  ['https://me:pw@a.test/', ['https://a.test'], 'https://a.test/'],
  ['http://a.test/', ['https://a.test'], 'https://a.test/'],
  ['https://a.test:8443/', ['https://a.test'], 'https://a.test/'],
  ['https://b.a.test/', ['https://a.test'], 'https://a.test/'],
  ['https://a.test/.gateway/oauth2/logout', ['https://a.test'], 'https://a.test/'],
  [`https://a.test/${'x'.repeat(8_192)}`, ['https://a.test'], 'https://a.test/'],
  [
    'https://b.a.test/x',
    [{ origin: 'https://a.test', includeSubdomains: true }],
    'https://b.a.test/x',
  ],
  ['https://ba.test/x', [{ origin: 'https://a.test', includeSubdomains: true }], 'https://a.test/'],
  ['https://a.test/x?y=1', ['https://a.test'], 'https://a.test/x?y=1'],
] as const) {
  test(`return=${text.slice(0, 50)} with ${JSON.stringify(origins)} leads to ${back}`, async t => {
    const { browser } = await open(t, { origins });
    const { url } = await begin(browser, freshUrl({ return: text }));
    const { location } = await browser.visit(authorize(url));
    assert.equal(location, back);
  });
}

test('the prompt replaces that of extraAuthorizationParameters', async t => {
  const extraAuthorizationParameters = new Map([['prompt', 'none']]);
  const { browser } = await open(t, { settings: { extraAuthorizationParameters } });
  const { url } = await begin(browser, freshUrl());
  assert.deepEqual(url.searchParams.getAll('prompt'), ['login']);
});

for (const [issuer, supported, prompt] of [
  ['https://idp.test', undefined, 'login'],
  ['https://idp.test', ['none', 'login', 'consent'], 'login'],
  ['https://idp.test', ['none', 'login', 'select_account'], 'select_account'],
  ['https://accounts.google.com', undefined, 'select_account'],
] as const) {
  test(`${issuer} with ${supported?.join(' ') ?? 'no prompts listed'} is asked for ${prompt}`, () => {
    const metadata = { issuer, ...(supported && { prompt_values_supported: supported }) };
    assert.equal(promptOf(metadata), prompt);
  });
}

for (const [what, url, visit, status] of [
  ['of no realm', freshUrl({ realm: 'other.default' }), {}, 400],
  ['at an origin that does not hold the login', freshUrl({}, 'https://b.test'), {}, 400],
  ['by POST', freshUrl(), { method: 'POST' }, 405],
  ['by a script', freshUrl(), { headers: { 'sec-fetch-mode': 'cors' } }, 400],
  ['by an image', freshUrl(), { headers: { 'sec-fetch-mode': 'no-cors' } }, 400],
] as const) {
  test(`a login ${what} is not begun: ${status}`, async t => {
    const { browser } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
    const seen = await browser.visit(url, { headers: HTML, ...visit });
    assert.deepEqual([seen.status, seen.location, seen.setCookies], [status, undefined, []]);
  });
}
