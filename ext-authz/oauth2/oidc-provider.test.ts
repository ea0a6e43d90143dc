import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { logIn } from '#ext-authz/testing/log-in.ts';
import { webClient } from '#ext-authz/testing/oidc-clients.ts';
import {
  type OidcProvider,
  startOidcProvider,
  type TestUser,
} from '#ext-authz/testing/oidc-provider.ts';
import { secretOf } from '#ext-authz/testing/provider-settings.ts';
import { cases } from '#protos/testing/cases.ts';
import { TestBrowser } from './testing/test-browser.ts';
import { openTestGateway, REALM, type TestGatewayOptions } from './testing/test-gateway.ts';

const SECRET = 's'.repeat(40);
const CALLBACK = 'https://a.test/.gateway/oauth2/redirection-endpoint';
const ALICE = {
  username: 'alice',
  password: 'wonder land',
  claims: { email: 'alice@example.com' },
};
const CROWD = Array.from({ length: cases({ all: 200, quick: 40 }) }, (_, index) => ({
  username: `user-${index}`,
  password: `password-${index}`,
}));
const SCOPE = ['openid', 'offline_access', 'email'];

let provider: OidcProvider;
before(async () => {
  provider = await startOidcProvider({
    clients: [webClient({ client_id: 'web', client_secret: SECRET }, [CALLBACK])],
    users: [ALICE, ...CROWD],
    scopes: ['read', 'write'],
    accessTokenTtl: 600,
  });
});
after(() => provider.close());

async function open(t: TestContext, options: Partial<TestGatewayOptions> = {}) {
  const gateway = await openTestGateway(t, {
    issuer: provider.issuer,
    origins: ['https://a.test', 'https://b.test'],
    provider: { clientID: 'web', secret: secretOf(SECRET) },
    replicas: 2,
    ...options,
  });
  return { gateway, browser: new TestBrowser(gateway) };
}

/**
 * Goes from a page to the same page, by whatever redirects there are. The user logs in at the
 * provider.
 */
async function arrive(browser: TestBrowser, page: string, user: TestUser = ALICE, visit = {}) {
  const callback = await logInAtProvider(browser, page, user, visit);
  return browser.follow(callback.href, () => 'https://nowhere.test', visit);
}

/** Goes from a page to the provider. Returns where the provider sends the browser after that. */
async function logInAtProvider(browser: TestBrowser, page: string, user: TestUser, visit = {}) {
  const first = await browser.visit(page, visit);
  const begun = first.location?.startsWith('https://a.test/')
    ? await browser.visit(first.location)
    : first;
  return logIn(begun.location ?? '', user, CALLBACK);
}

async function session({ gateway }: Awaited<ReturnType<typeof open>>, browser: TestBrowser) {
  const id = browser.jar.value('https://a.test/', `__Host-gateway_session.${REALM}`) ?? '';
  return (await gateway.filters[0]?.[0]?.sessions.read(id))?.session;
}

test('login on the second origin, refresh with rotation over two replicas, logout', async t => {
  const world = await open(t);
  const { browser, gateway } = world;
  const seen = await arrive(browser, 'https://b.test/page?x=1', ALICE, { scope: SCOPE });
  assert.deepEqual([seen.status, seen.url], [0, 'https://b.test/page?x=1']);
  assert.equal((await session(world, browser))?.idToken.claims.sub, 'alice');

  const before = seen.change?.set.get('authorization');
  for (let round = 0; round < 2; round += 1) {
    gateway.advance(600_001);
    const calls = Array.from({ length: 40 }, (_, index) =>
      browser.visit('https://b.test/', { replica: index % 2, scope: SCOPE }),
    );
    const tokens = new Set(
      (await Promise.all(calls)).map(({ change }) => change?.set.get('authorization')),
    );
    assert.equal(tokens.size, 1);
    assert.ok(!tokens.has(undefined) && !tokens.has(before));
  }

  const body = new URLSearchParams({
    realm: REALM,
    _xsrf: browser.jar.value('https://b.test/', `gateway_xsrf.${REALM}`) ?? '',
  });
  const out = await browser.visit('https://b.test/.gateway/oauth2/logout', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: body.toString(),
  });
  assert.equal(out.status, 303);
  assert.equal((await fetch(out.location ?? '', { redirect: 'manual' })).status, 200);
  for (const url of ['https://a.test/', 'https://b.test/'])
    assert.equal((await browser.visit(url, { replica: 1 })).status, 303);
});

test('a step-up gets the union of scopes', async t => {
  const world = await open(t);
  const { browser } = world;
  await arrive(browser, 'https://a.test/', ALICE, { scope: ['read'] });
  const seen = await arrive(browser, 'https://a.test/', ALICE, { scope: ['write'] });
  assert.equal(seen.status, 0);
  const { asked, granted } = (await session(world, browser)) ?? { asked: [], granted: [] };
  assert.deepEqual(
    [asked, [...granted].sort()],
    [
      ['openid', 'read', 'write'],
      ['openid', 'read', 'write'],
    ],
  );
});

test('a provider that knows the browser asks again only when another user logs in', async t => {
  const world = await open(t);
  const { browser } = world;
  const atProvider = new Map<string, string>();
  const nobody = { username: 'nobody', password: 'wrong' };
  const arriveAs = async (url: string, user: TestUser) => {
    const { location = '' } = await browser.visit(url);
    const callback = await logIn(location, user, CALLBACK, atProvider);
    const seen = await browser.follow(callback.href, () => 'https://nowhere.test');
    return [seen.status, seen.url, (await session(world, browser))?.idToken.claims.sub];
  };
  assert.deepEqual(await arriveAs('https://a.test/one', ALICE), [0, 'https://a.test/one', 'alice']);
  browser.jar.take(
    new URL('https://a.test/'),
    `__Host-gateway_session.${REALM}=; Path=/; Max-Age=0; Secure`,
  );
  assert.deepEqual(await arriveAs('https://a.test/two', nobody), [
    0,
    'https://a.test/two',
    'alice',
  ]);
  const query = new URLSearchParams({ realm: REALM, return: 'https://a.test/three' });
  const fresh = `https://a.test/.gateway/oauth2/login?${query}`;
  await assert.rejects(arriveAs(fresh, nobody), /no callback/);
  assert.deepEqual(await arriveAs(fresh, ALICE), [0, 'https://a.test/three', 'alice']);
});

test(`${CROWD.length} users log in at the same time, and none becomes another`, async t => {
  const world = await open(t, { deadlineMs: 60_000 });
  // The provider shares this thread. Its keys and tokens must not wait behind a thousand forms.
  for (const replica of [0, 1])
    await arrive(new TestBrowser(world.gateway), 'https://a.test/', ALICE, { replica });
  const begun = await Promise.all(
    CROWD.map(async user => {
      const browser = new TestBrowser(world.gateway);
      const page = `https://a.test/${user.username}`;
      const signal = AbortSignal.timeout(60_000);
      return { browser, page, callback: await logInAtProvider(browser, page, user, { signal }) };
    }),
  );
  const arrived = await Promise.all(
    begun.map(async ({ browser, callback, page }, index) => {
      const { status, url } = await browser.follow(callback.href, () => 'https://nowhere.test', {
        replica: index % 2,
        signal: AbortSignal.timeout(60_000),
      });
      const other = await browser.visit(page, { replica: (index + 1) % 2 });
      return [status, url, other.status, (await session(world, browser))?.idToken.claims.sub];
    }),
  );
  assert.deepEqual(
    arrived,
    CROWD.map(({ username }) => [0, `https://a.test/${username}`, 0, username]),
  );
});
