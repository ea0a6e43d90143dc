import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize } from '#ext-authz/oauth2/testing/code-provider.ts';
import { type Seen, TestBrowser, type TestVisit } from '#ext-authz/oauth2/testing/test-browser.ts';
import { REALM, type TestGateway } from '#ext-authz/oauth2/testing/test-gateway.ts';
import { useWorld } from '#ext-authz/oauth2/testing/world.ts';

const { open, provider } = useWorld();
const PAGE = 'https://a.test/page';
const LOGOUT = 'https://a.test/.gateway/oauth2/logout';
const SESSION = `__Host-gateway_session.${REALM}`;
const XSRF = `gateway_xsrf.${REALM}`;
const TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

function post(
  browser: TestBrowser,
  form: Record<string, string> | string,
  { headers, ...visit }: TestVisit & { readonly url?: string } = {},
): Promise<Seen> {
  const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
  return browser.visit(visit.url ?? LOGOUT, {
    method: 'POST',
    body,
    headers: { ...TYPE, ...headers },
    ...visit,
  });
}

const formOf = (browser: TestBrowser) => ({
  realm: REALM,
  _xsrf: browser.jar.value(PAGE, XSRF) ?? '',
});

test('a logout ends the session, clears its cookies as they were set, and goes to the provider', async t => {
  const settings = { postLogoutRedirectURI: 'https://a.test/bye' };
  const { browser, gateway } = await open(t, { settings });
  await browser.follow(PAGE, authorize, { sameSite: 'lax' });
  const id = browser.jar.value(PAGE, SESSION) ?? '';
  const seen = await post(browser, formOf(browser));
  assert.equal(seen.status, 303);
  const url = new URL(seen.location ?? '');
  assert.equal(url.origin + url.pathname, `${provider().issuer}/logout`);
  const { id_token_hint, state, ...others } = Object.fromEntries(url.searchParams);
  assert.equal(id_token_hint?.split('.').length, 3);
  assert.match(state ?? '', /^[\w-]{43}$/);
  assert.deepEqual(others, { client_id: 'client', post_logout_redirect_uri: 'https://a.test/bye' });
  assert.deepEqual(seen.setCookies, [
    `gateway_session.${REALM}=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax`,
    `${SESSION}=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax`,
    `${XSRF}=; Path=/; Max-Age=0; Secure; SameSite=Lax`,
  ]);
  assert.equal(await gateway.filters[0]?.[0]?.sessions.read(id), undefined);
  assert.deepEqual(browser.jar.all(), []);
  assert.equal((await browser.visit(PAGE)).status, 303);
});

test('the realm may be in the query, a stolen cookie is worth nothing afterwards, on all replicas', async t => {
  const { browser } = await open(t, { replicas: 2 });
  await browser.follow(PAGE, authorize);
  assert.equal((await browser.visit(PAGE, { replica: 1 })).status, 0);
  const stolen = { headers: { cookie: `${SESSION}=${browser.jar.value(PAGE, SESSION)}` } };
  const { _xsrf } = formOf(browser);
  assert.equal((await post(browser, { _xsrf }, { url: `${LOGOUT}?realm=${REALM}` })).status, 303);
  for (const replica of [0, 1])
    assert.equal((await browser.visit(PAGE, { ...stolen, replica })).status, 303);
});

test('with includeSubdomains the cookies are cleared with Domain', async t => {
  const { browser } = await open(t, {
    origins: [{ origin: 'https://a.test', includeSubdomains: true }],
  });
  await browser.follow(PAGE, authorize);
  await post(browser, formOf(browser), { url: LOGOUT.replace('a.test', 'www.a.test') });
  assert.deepEqual(browser.jar.all(), []);
});

test('a logout at one origin counts at all of them', async t => {
  const { browser } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
  await browser.follow('https://b.test/', authorize);
  await post(browser, formOf(browser));
  const seen = await browser.visit('https://b.test/');
  assert.equal(seen.status, 303);
  assert.equal(browser.jar.value('https://b.test/', SESSION), undefined);
});

test('a provider without end_session_endpoint: a 200 page that says so', async t => {
  const { browser } = await open(t);
  const { end_session_endpoint, ...discovery } = provider().discovery();
  provider().behave('discovery', () => ({ body: discovery }));
  await browser.follow(PAGE, authorize);
  const seen = await post(browser, formOf(browser));
  assert.equal(seen.status, 200);
  assert.match(seen.body, /the identity provider itself may go on/);
  assert.deepEqual(browser.jar.all(), []);
});

test('a provider that a replica has never reached: logged out here all the same', async t => {
  const { browser } = await open(t, { replicas: 2 });
  await browser.follow(PAGE, authorize);
  provider().behave('discovery', () => 'hang up');
  const seen = await post(browser, formOf(browser), { replica: 1 });
  assert.equal(seen.status, 502);
  assert.deepEqual(browser.jar.all(), []);
});

test('no live session, but `_xsrf` equals the cookie: cookies cleared, 303 to /', async t => {
  const { browser, gateway } = await open(t);
  await browser.follow(PAGE, authorize);
  browser.jar.take(new URL(PAGE), `${SESSION}=${'ab'.repeat(32)}; Path=/; Secure; HttpOnly`);
  const seen = await post(browser, formOf(browser));
  assert.deepEqual([seen.status, seen.location], [303, '/']);
  assert.deepEqual(browser.jar.all(), []);
  assert.ok(gateway);
});

type Attack = readonly [
  what: string,
  status: number,
  form: (own: Record<string, string>) => Record<string, string> | string,
  visit?: TestVisit & { readonly url?: string },
];

const REFUSED: readonly Attack[] = [
  ['no `_xsrf`', 403, () => ({ realm: REALM })],
  ['an empty `_xsrf`', 403, own => ({ ...own, _xsrf: '' })],
  ['a wrong `_xsrf`', 403, own => ({ ...own, _xsrf: '0'.repeat(64) })],
  [
    '`_xsrf` in the query only',
    403,
    () => ({ realm: REALM }),
    { url: `${LOGOUT}?_xsrf=${'0'.repeat(64)}` },
  ],
  ['no realm', 400, ({ _xsrf = '' }) => ({ _xsrf })],
  ['an unknown realm', 400, own => ({ ...own, realm: 'other.default' })],
  ['the realm `__proto__`', 400, own => ({ ...own, realm: '__proto__' })],
  ['realms that differ', 400, own => own, { url: `${LOGOUT}?realm=other.default` }],
  ['a repeated realm', 400, own => `${new URLSearchParams(own)}&realm=${REALM}`],
  ['a repeated `_xsrf`', 400, own => `${new URLSearchParams(own)}&_xsrf=${own._xsrf}`],
  [
    'an origin that the Filter does not protect',
    400,
    own => own,
    { url: LOGOUT.replace('a.test', 'x.test') },
  ],
  ['a body of JSON', 415, own => own, { headers: { 'content-type': 'application/json' } }],
  ['no content-type', 415, own => own, { headers: { 'content-type': [] } }],
  ['a body over 8 KiB', 413, own => `${new URLSearchParams(own)}&x=${'x'.repeat(8_192)}`],
  ['GET', 405, own => own, { method: 'GET' }],
  ['DELETE', 405, own => own, { method: 'DELETE' }],
];

for (const [what, status, form, visit] of REFUSED) {
  test(`a logout with ${what}: ${status}, and the session stays`, async t => {
    const { browser } = await open(t);
    await browser.follow(PAGE, authorize);
    const seen = await post(browser, form(formOf(browser)), visit);
    assert.equal(seen.status, status);
    assert.deepEqual(seen.setCookies, []);
    if (status === 405) assert.equal(seen.headers.get('allow'), 'POST');
    assert.equal((await browser.visit(PAGE)).status, 0);
  });
}

test('`_xsrf` must be that of the session too: a planted cookie does not do', async t => {
  const { browser } = await open(t);
  await browser.follow(PAGE, authorize);
  const planted = 'ab'.repeat(32);
  browser.jar.take(new URL(PAGE), `${XSRF}=${planted}; Path=/; Secure`);
  assert.equal((await post(browser, { realm: REALM, _xsrf: planted })).status, 403);
});

test('the very `_xsrf` of the session, but in the query: 403, and the session stays', async t => {
  const { browser } = await open(t);
  await browser.follow(PAGE, authorize);
  const { realm, _xsrf } = formOf(browser);
  assert.match(_xsrf, /^[0-9a-f]{64}$/);
  assert.equal((await post(browser, { realm }, { url: `${LOGOUT}?_xsrf=${_xsrf}` })).status, 403);
  assert.equal((await browser.visit(PAGE)).status, 0);
});

test('`_xsrf` of the session without its cookie: 403', async t => {
  const { browser } = await open(t);
  await browser.follow(PAGE, authorize);
  const form = formOf(browser);
  browser.jar.take(new URL(PAGE), `${XSRF}=; Path=/; Max-Age=0`);
  assert.equal((await post(browser, form)).status, 403);
});

test('a form of another site, with an empty `_xsrf` and none of our cookies, clears nothing: 403', async t => {
  const { browser } = await open(t);
  await browser.follow(PAGE, authorize, { sameSite: 'strict' });
  for (const cookie of [[], [`${XSRF}=`]]) {
    const seen = await post(browser, { realm: REALM, _xsrf: '' }, { headers: { cookie } });
    assert.deepEqual([seen.status, seen.setCookies], [403, []]);
  }
  assert.equal((await browser.visit(PAGE)).status, 0);
});

test('CORS: exact for listed origins, nothing for others', async t => {
  const { browser } = await open(t, {
    origins: [{ origin: 'https://a.test', includeSubdomains: true }, 'https://b.test'],
  });
  const cors = async (origin?: string) => {
    const { headers } = await post(
      browser,
      { realm: REALM },
      { headers: origin === undefined ? {} : { origin } },
    );
    return ['access-control-allow-origin', 'access-control-allow-credentials', 'vary'].map(name =>
      headers.get(name),
    );
  };
  assert.deepEqual(await cors('https://b.test'), ['https://b.test', 'true', 'Origin']);
  for (const origin of [
    'https://www.a.test',
    'https://evil.test',
    'null',
    'https://b.test.evil',
    undefined,
  ])
    assert.deepEqual(await cors(origin), [undefined, undefined, 'Origin']);
});

const preflight = (browser: TestBrowser, origin: string, headers: Record<string, string> = {}) =>
  browser.visit(LOGOUT, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', ...headers },
  });

test('a preflight of a listed origin may send the logout, and nothing but it', async t => {
  const { browser } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
  const asked = { 'access-control-request-headers': 'content-type, x-requested-with' };
  const { headers, status } = await preflight(browser, 'https://b.test', asked);
  assert.equal(status, 204);
  const cors = [...headers].filter(
    ([name]) => name.startsWith('access-control-') || name === 'vary',
  );
  assert.deepEqual(Object.fromEntries(cors), {
    'access-control-allow-origin': 'https://b.test',
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'content-type, x-requested-with',
    'access-control-max-age': '600',
    vary: 'Origin',
  });
});

test('a preflight of another origin, and OPTIONS that are none, get no CORS headers', async t => {
  const { browser } = await open(t);
  for (const origin of ['https://evil.test', 'null', 'https://a.test.evil', 'https://a.test:8443'])
    assert.deepEqual(seenBy(await preflight(browser, origin)), [403, undefined, 'Origin']);
  const options = await browser.visit(LOGOUT, { method: 'OPTIONS' });
  assert.deepEqual(seenBy(options), [405, undefined, 'Origin']);
});

const seenBy = ({ headers, status }: Seen) => [
  status,
  headers.get('access-control-allow-origin'),
  headers.get('vary'),
];

for (const [what, status, form, visit] of REFUSED.filter(
  ([what]) => !what.startsWith('an origin'),
)) {
  test(`the refusal of a logout with ${what} can be read by a listed origin`, async t => {
    const { browser } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
    await browser.follow(PAGE, authorize);
    const headers = { origin: 'https://b.test', ...visit?.headers };
    const seen = await post(browser, form(formOf(browser)), {
      ...visit,
      headers: { ...TYPE, ...headers },
    });
    assert.deepEqual(seenBy(seen), [status, 'https://b.test', 'Origin']);
  });
}

for (const [form, status, after] of [
  ["the session's", 303, 303],
  ['the other', 403, 0],
] as const)
  test(`of two xsrf cookies ${form} in the form: ${status}`, async t => {
    const { browser } = await open(t);
    await browser.follow(PAGE, authorize);
    const planted = 'ab'.repeat(32);
    const own = browser.jar.all().map(({ name, value }) => `${name}=${value}`);
    const cookie = [`${XSRF}=${planted}`, ...own].join('; ');
    const { _xsrf } = formOf(browser);
    const sent = { realm: REALM, _xsrf: form === 'the other' ? planted : _xsrf };
    assert.equal((await post(browser, sent, { headers: { cookie } })).status, status);
    assert.equal((await browser.visit(PAGE)).status, after);
  });

test('without a session two different xsrf cookies do not count: 403', async t => {
  const { browser } = await open(t);
  const [_xsrf, other] = ['ab'.repeat(32), 'cd'.repeat(32)];
  const cookie = `${XSRF}=${_xsrf}; ${XSRF}=${other}`;
  const seen = await post(browser, { realm: REALM, _xsrf }, { headers: { cookie } });
  assert.deepEqual([seen.status, seen.setCookies], [403, []]);
});

const WIDE = [{ origin: 'https://a.test', includeSubdomains: true }];
const WIDE_SESSION = `gateway_session.${REALM}`;

/** Two logins of one user, whose cookies a browser may send together. */
async function loggedInTwice(gateway: TestGateway): Promise<readonly TestBrowser[]> {
  const browsers = [new TestBrowser(gateway), new TestBrowser(gateway)];
  for (const browser of browsers) await browser.follow(PAGE, authorize);
  return browsers;
}

const sentBy = (browser: TestBrowser) =>
  browser.jar.all().map(each => `${each.name}=${each.value}`);

for (const order of [
  [0, 1],
  [1, 0],
] as const)
  test(`a logout with the cookies of two sessions, in the order ${order.join(', ')}, ends both`, async t => {
    const { browser, gateway } = await open(t, { origins: WIDE });
    const both = await loggedInTwice(gateway);
    const cookie = order.flatMap(index => sentBy(both[index] ?? assert.fail())).join('; ');
    const seen = await post(browser, formOf(both[0] ?? assert.fail()), { headers: { cookie } });
    assert.deepEqual(
      [seen.status, seen.location?.split('?')[0]],
      [303, `${provider().issuer}/logout`],
    );
    assert.equal(seen.setCookies.length, 5);
    for (const { jar } of both)
      assert.equal(await liveSession(gateway, jar.value(PAGE, WIDE_SESSION)), undefined);
  });

test('of two sessions none ends by the xsrf value of a third', async t => {
  const { browser, gateway } = await open(t, { origins: WIDE });
  const both = await loggedInTwice(gateway);
  await browser.follow(PAGE, authorize);
  const form = formOf(browser);
  const cookie = [...both.flatMap(sentBy), `${XSRF}=${form._xsrf}`].join('; ');
  assert.equal((await post(browser, form, { headers: { cookie } })).status, 403);
  for (const { jar } of both)
    assert.notEqual(await liveSession(gateway, jar.value(PAGE, WIDE_SESSION)), undefined);
});

test('xsrf cookies that a neighbour plants, as many as a browser keeps, hide none', async t => {
  const { browser } = await open(t);
  await browser.follow(PAGE, authorize);
  const planted = Array.from({ length: 177 }, (_, index) => `${XSRF}=planted${index}`);
  const cookie = [...planted, ...sentBy(browser)].join('; ');
  const seen = await post(browser, formOf(browser), { headers: { cookie } });
  assert.equal(seen.status, 303);
});

async function liveSession(gateway: TestGateway, id = ''): Promise<unknown> {
  return gateway.filters[0]?.[0]?.sessions.read(id);
}
