import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { InsteadOfRedirect } from '#ext-authz/policy/rule.ts';
import { authorize, grantCodes } from './testing/code-provider.ts';
import { REALM } from './testing/test-gateway.ts';
import { useWorld } from './testing/world.ts';

const { open, provider } = useWorld();
const PAGE = 'https://a.test/page';
const SESSION = `__Host-gateway_session.${REALM}`;

test('a value that was never asked for: one more login, a new session id, the old one ended', async t => {
  const { browser, gateway } = await open(t);
  await browser.follow(PAGE, authorize, { scope: ['read'] });
  const old = browser.jar.value(PAGE, SESSION) ?? '';
  const asked: string[] = [];
  const seen = await browser.follow(
    PAGE,
    url => {
      asked.push(url.searchParams.get('scope') ?? '');
      return authorize(url);
    },
    { scope: ['write'] },
  );
  assert.deepEqual([seen.status, asked], [0, ['openid read write']]);
  assert.notEqual(browser.jar.value(PAGE, SESSION), old);
  assert.equal(await gateway.filters[0]?.[0]?.sessions.read(old), undefined);
  assert.equal((await browser.visit(PAGE, { scope: ['read'] })).status, 0);
});

test('a value that was asked for and not granted: 403 at once', async t => {
  const { browser } = await open(t);
  grantCodes(provider(), () => ({ scope: 'openid read' }));
  const seen = await browser.follow(PAGE, authorize, { scope: ['read', 'write'] });
  assert.deepEqual([seen.status, seen.way.filter(step => step === 'provider').length], [403, 1]);
  assert.equal((await browser.visit(PAGE, { scope: ['read'] })).status, 0);
  assert.equal((await browser.visit(PAGE, { scope: ['write', 'new'] })).status, 403);
});

test('offline_access may be missing', async t => {
  const { browser } = await open(t);
  grantCodes(provider(), () => ({ scope: 'openid' }));
  assert.equal((await browser.follow(PAGE, authorize, { scope: ['offline_access'] })).status, 0);
});

test('a provider that does not list openid has granted it all the same: there is an ID token', async t => {
  const { browser } = await open(t);
  grantCodes(provider(), () => ({ scope: 'read' }));
  assert.equal((await browser.follow(PAGE, authorize, { scope: ['openid', 'read'] })).status, 0);
});

for (const [who, granting] of [
  ['Google', { scope: 'openid https://www.googleapis.com/auth/userinfo.email' }],
  ['Entra', { scope: 'api://app/read', claims: { email: 'ada@example.com' } }],
  ['LinkedIn', { scope: 'email,openid' }],
] as const) {
  test(`email is granted as ${who} says it, by a refresh too`, async t => {
    const { browser, gateway } = await open(t);
    grantCodes(provider(), () => ({ ...granting, refresh_token: 'r' }));
    assert.equal((await browser.follow(PAGE, authorize, { scope: ['email'] })).status, 0);
    gateway.advance(3_600_001);
    assert.equal((await browser.visit(PAGE, { scope: ['email'] })).status, 0);
  });
}

test('no scope in the answer: what was asked for is granted', async t => {
  const { browser } = await open(t);
  assert.equal((await browser.follow(PAGE, authorize, { scope: ['read', 'write'] })).status, 0);
});

test('scope values are told apart exactly, whatever they are called', async t => {
  const { browser } = await open(t);
  grantCodes(provider(), () => ({ scope: 'Read __proto__x' }));
  assert.equal((await browser.follow(PAGE, authorize, { scope: ['__proto__'] })).status, 403);
  assert.equal((await browser.visit(PAGE, { scope: ['constructor'] })).status, 303);
});

test('an access token that does not have the scope of the rule: 403', async t => {
  const { browser, gateway } = await open(t);
  gateway.judge((_, scope) =>
    scope.length === 0 ? { kind: 'valid' } : { kind: 'insufficient_scope', check: 'scope' },
  );
  assert.equal((await browser.follow(PAGE, authorize, { scope: ['read'] })).status, 403);
});

test('an access token that is no longer valid: to the provider', async t => {
  const { browser, gateway } = await open(t);
  await browser.follow(PAGE, authorize);
  gateway.judge(() => ({ kind: 'invalid', check: 'revoked' }));
  const { location, status } = await browser.visit(PAGE);
  assert.equal(status, 303);
  const seen = await browser.visit(authorize(new URL(location ?? '')));
  assert.deepEqual([seen.status, seen.location], [502, undefined]);
});

const instead = (changes: Partial<InsteadOfRedirect> = {}): InsteadOfRedirect => ({
  applies: () => true,
  status: 403,
  items: [],
  ...changes,
});

test('insteadOfRedirect answers its status without cookies, where there is no session and at a step-up', async t => {
  const { browser } = await open(t);
  const rule = { insteadOfRedirect: instead({ status: 418 }) };
  browser.jar.take(new URL(PAGE), `${SESSION}=dead; Path=/; Secure`);
  const seen = await browser.visit(PAGE, rule);
  assert.deepEqual([seen.status, seen.location, seen.setCookies], [418, undefined, []]);
  await browser.follow(PAGE, authorize);
  assert.equal((await browser.visit(PAGE, rule)).status, 0);
  assert.equal((await browser.visit(PAGE, { ...rule, scope: ['new'] })).status, 418);
});

test('insteadOfRedirect 401 has a challenge with the realm', async t => {
  const { browser } = await open(t);
  const seen = await browser.visit(PAGE, { insteadOfRedirect: instead({ status: 401 }) });
  assert.equal(seen.headers.get('www-authenticate'), `Bearer realm="${REALM}"`);
});

test('insteadOfRedirect applies at a hand-off too', async t => {
  const { browser } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
  assert.equal(
    (await browser.visit('https://b.test/', { insteadOfRedirect: instead() })).status,
    403,
  );
});

test('insteadOfRedirect with a condition that does not hold redirects', async t => {
  const { browser } = await open(t);
  const applies = ({ headers }: HttpRequest) => headers.has('x-script');
  const rule = { insteadOfRedirect: instead({ applies }) };
  assert.equal((await browser.visit(PAGE, rule)).status, 303);
  assert.equal((await browser.visit(PAGE, { ...rule, headers: { 'x-script': '1' } })).status, 403);
});

test('insteadOfRedirect with filters: their outcome is the outcome, and with none it is the 403 page', async t => {
  const { browser } = await open(t);
  const insteadOfRedirect = instead({ status: undefined });
  const change = {
    set: new Map([['x-user', 'm']]),
    remove: new Set<string>(),
    responseHeaders: [],
  };
  const allowed = await browser.visit(PAGE, {
    insteadOfRedirect,
    runInner: async () => ({ kind: 'allow', change }),
  });
  assert.deepEqual([allowed.status, allowed.change], [0, change]);
  const answer = { status: 401, headers: [], body: 'no' };
  const denied = await browser.visit(PAGE, {
    insteadOfRedirect,
    runInner: async () => ({ kind: 'answer', answer }),
  });
  assert.deepEqual([denied.status, denied.body], [401, 'no']);
  assert.equal((await browser.visit(PAGE, { insteadOfRedirect })).status, 403);
});

test('a WebSocket without a session is answered 401 and begins no login, and one with a session passes', async t => {
  const { browser } = await open(t);
  const headers = { upgrade: 'WebSocket', connection: 'Upgrade' };
  const seen = await browser.visit(PAGE, { headers });
  assert.deepEqual([seen.status, seen.location, seen.setCookies], [401, undefined, []]);
  assert.match(seen.headers.get('www-authenticate') ?? '', /^Bearer realm=/);
  assert.equal((await browser.follow(PAGE, authorize)).status, 0);
  assert.equal((await browser.visit(PAGE, { headers })).status, 0);
});

test('insteadOfRedirect decides about a WebSocket too', async t => {
  const { browser } = await open(t);
  const visit = { headers: { upgrade: 'websocket' }, insteadOfRedirect: instead({ status: 404 }) };
  assert.equal((await browser.visit(PAGE, visit)).status, 404);
});

test('fetch() and a program that wants JSON get 401 with a challenge, and begin no login', async t => {
  const { browser } = await open(t);
  for (const headers of [
    { 'sec-fetch-mode': 'cors', accept: '*/*' },
    { accept: 'application/json' },
  ]) {
    const seen = await browser.visit(PAGE, { headers });
    assert.deepEqual([seen.status, seen.location, seen.setCookies], [401, undefined, []]);
    assert.equal(seen.headers.get('www-authenticate'), `Bearer realm="${REALM}"`);
    const told = { message: 'You must be logged in.', request_id: 'request-1', status_code: 401 };
    assert.deepEqual(JSON.parse(seen.body), told);
  }
});

test('the 401 of fetch() names the page to load again, when it is one of this origin', async t => {
  const { browser } = await open(t);
  const loginUrl = async (referer: string) => {
    const { body } = await browser.visit(PAGE, { headers: { 'sec-fetch-mode': 'cors', referer } });
    return JSON.parse(body).login_url;
  };
  assert.equal(await loginUrl('https://a.test/app?x=1'), 'https://a.test/app?x=1');
  for (const other of [
    'https://evil.test/',
    'https://a.test/.gateway/oauth2/logout',
    'javascript:alert(1)',
  ])
    assert.equal(await loginUrl(other), undefined);
});

test('fetch() gets 401 at a step-up and at a hand-off too, and passes with a session', async t => {
  const { browser } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
  const headers = { 'sec-fetch-mode': 'cors' };
  assert.equal((await browser.visit('https://b.test/', { headers })).status, 401);
  await browser.follow(PAGE, authorize);
  assert.equal((await browser.visit(PAGE, { headers })).status, 0);
  assert.equal((await browser.visit(PAGE, { headers, scope: ['new'] })).status, 401);
});

test('what the rule says goes before: fetch() gets the status of insteadOfRedirect', async t => {
  const { browser } = await open(t);
  const visit = {
    headers: { 'sec-fetch-mode': 'cors' },
    insteadOfRedirect: instead({ status: 404 }),
  };
  assert.equal((await browser.visit(PAGE, visit)).status, 404);
});
