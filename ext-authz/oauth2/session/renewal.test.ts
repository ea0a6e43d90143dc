import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, grantCodes } from '#ext-authz/oauth2/testing/code-provider.ts';
import { REALM } from '#ext-authz/oauth2/testing/test-gateway.ts';
import { useWorld } from '#ext-authz/oauth2/testing/world.ts';
import { StoreUnavailable } from '#ext-authz/store/record-store.ts';
import { holdsFor } from './renewal.ts';
import type { Session } from './session.ts';

const { open, provider } = useWorld();
const PAGE = 'https://a.test/page';
const DAY = 86_400_000;

test('cookies are renewed when less than half of clientSessionMaxIdle is left, and not before', async t => {
  const { browser, gateway } = await open(t, { settings: { clientSessionMaxIdle: 10 * DAY } });
  grantCodes(provider(), () => ({ refresh_token: 'r', expires_in: 100 * 86_400 }));
  await browser.follow(PAGE, authorize);
  gateway.advance(5 * DAY - 60_000);
  assert.deepEqual((await browser.visit(PAGE)).setCookies, []);
  gateway.advance(60_001);
  const { setCookies } = await browser.visit(PAGE);
  assert.equal(setCookies.length, 3);
  assert.ok(setCookies.every(cookie => cookie.includes('Max-Age=864000;')));
  assert.deepEqual((await browser.visit(PAGE)).setCookies, []);
});

test('a session that cannot be renewed serves on, and is renewed when the store takes writes again', async t => {
  const { browser, gateway } = await open(t, { settings: { clientSessionMaxIdle: 10 * DAY } });
  grantCodes(provider(), () => ({ refresh_token: 'r', expires_in: 100 * 86_400 }));
  await browser.follow(PAGE, authorize);
  gateway.advance(6 * DAY);
  const { replace } = gateway.store;
  gateway.store.replace = () => Promise.reject(new StoreUnavailable('full'));
  const { setCookies, status } = await browser.visit(PAGE);
  assert.deepEqual([status, setCookies], [0, []]);
  gateway.store.replace = replace;
  assert.equal((await browser.visit(PAGE)).setCookies.length, 3);
});

test('the xsrf cookie is set again when it is missing or another', async t => {
  const { browser } = await open(t);
  await browser.follow(PAGE, authorize);
  const name = `gateway_xsrf.${REALM}`;
  const xsrf = browser.jar.value(PAGE, name);
  browser.jar.take(new URL(PAGE), `${name}=; Path=/; Max-Age=0`);
  assert.equal((await browser.visit(PAGE)).setCookies.length, 1);
  assert.equal(browser.jar.value(PAGE, name), xsrf);
  browser.jar.take(new URL(PAGE), `${name}=forged; Path=/; Secure`);
  await browser.visit(PAGE);
  assert.equal(browser.jar.value(PAGE, name), xsrf);
  assert.deepEqual((await browser.visit(PAGE)).setCookies, []);
});

test('cookies that end with the browser: nothing to renew before half of clientSessionMaxIdle', async t => {
  const useSessionCookies = { value: true, ifRequestHeader: undefined };
  const { browser } = await open(t, {
    origins: ['https://a.test', 'https://b.test'],
    settings: { useSessionCookies },
  });
  grantCodes(provider(), () => ({ refresh_token: 'r' }));
  await browser.follow('https://b.test/', authorize);
  assert.deepEqual((await browser.visit('https://b.test/')).setCookies, []);
});

test('of two xsrf cookies both go, and the right one is set', async t => {
  const { browser } = await open(t);
  await browser.follow(PAGE, authorize);
  const own = browser.jar.all().map(({ name, value }) => `${name}=${value}`);
  const cookie = [...own, `gateway_xsrf.${REALM}=other`].join('; ');
  assert.equal((await browser.visit(PAGE, { headers: { cookie } })).setCookies.length, 3);
});

const AT = 'https://a.test';
const SESSION = {
  ...{ sessionCookies: false, accessTokenEnds: 100_000, ends: 200_000 },
  cookieEnds: { [AT]: 200_000 },
} as unknown as Session;

const HOLDS: readonly [what: string, session: object, now: number, ms: number][] = [
  ['long before anything ends', {}, 0, 1_000],
  ['shortly before the access token ends', {}, 99_400, 500],
  ['when it has ended', {}, 100_000, 0],
  ['shortly before the session ends', { ends: 300 }, 0, 300],
  ['with a refresh token, shortly before cookies are due', { refreshToken: 'r' }, 79_900, 100],
  ['where cookies are due', { refreshToken: 'r' }, 80_000, 0],
  ['where the session was never used here', { refreshToken: 'r', cookieEnds: {} }, 0, 0],
  [
    'with cookies that end with the browser',
    { refreshToken: 'r', sessionCookies: true, ends: 120_600, cookieEnds: {} },
    0,
    600,
  ],
];

for (const [what, changes, now, ms] of HOLDS)
  test(`${what} a decision holds for ${ms} ms`, () => {
    const settings = {
      decisionCache: { maxAge: 1_000, revision: 'a' },
      ...{ expirationSafetyMargin: 100, clientSessionMaxIdle: 240_000 },
    };
    const filter = { settings, sources: { now: () => now } } as unknown as Parameters<
      typeof holdsFor
    >[0];
    assert.equal(holdsFor(filter, { configured: AT }, { ...SESSION, ...changes }), ms);
    const without = { ...filter, settings: { ...filter.settings, decisionCache: undefined } };
    assert.equal(holdsFor(without, { configured: AT }, { ...SESSION, ...changes }), 0);
  });
