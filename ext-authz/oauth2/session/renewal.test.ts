import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, grantCodes } from '#ext-authz/oauth2/testing/code-provider.ts';
import { REALM } from '#ext-authz/oauth2/testing/test-gateway.ts';
import { useWorld } from '#ext-authz/oauth2/testing/world.ts';

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
