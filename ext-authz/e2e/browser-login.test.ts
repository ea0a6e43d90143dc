import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page, Response } from 'playwright-core';
import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { logIn as logInAtProvider } from '../testing/log-in.ts';
import {
  cookieValue,
  fillIn,
  logIn,
  newPage,
  openAtOnce,
  startBrowser,
  whyNoBrowser,
} from './browser.ts';

const SESSION = 'gateway_session.login.default';
const XSRF = 'gateway_xsrf.login.default';
const PENDING = 'gateway_pending.login.default';

describe('in a browser, the demo', { skip: whyNoBrowser() }, () => {
  let system: System;
  let browser: Browser;
  before(async () => {
    browser = await startBrowser();
    system = await startSystem({ demo: true });
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  const here = () => system.edge;
  const there = () => system.edge.replace('127.0.0.1', 'localhost');
  const provider = () => `http://127.0.0.1:${system.ports.identityProvider}`;

  /** The page that keeps a fragment moves on by itself, perhaps after it has loaded. */
  const isForm = (page: Page) =>
    page.waitForURL(url => url.href.startsWith(`${provider()}/interaction/`));

  const logInAs = (page: Page, username = 'ada', password = 'difference') =>
    logIn(page, `${here()}/account`, username, password);

  test('says who the user is, after a login at the provider', async t => {
    const page = await newPage(t, browser);
    await logInAs(page);
    const facts = await page.locator('dl').innerText();
    for (const fact of ['Ada Lovelace', 'ada@example.com', 'users:read'])
      assert.ok(facts.includes(fact), fact);
  });

  test('leads to where one wanted to go, path and query', async t => {
    const page = await newPage(t, browser);
    const link = `${here()}/account?from=mail&to=%C5%81uk%20asz&empty=`;
    await page.goto(link);
    await fillIn(page, 'grace', 'nanosecond');
    await page.waitForURL(link);
    assert.match(await page.locator('dl').innerText(), /Grace Hopper/);
  });

  test('lets two tabs log in at the same time, each to its own page', async t => {
    const first = await newPage(t, browser);
    const second = await first.context().newPage();
    await first.goto(`${here()}/account?tab=first`);
    await second.goto(`${here()}/account?tab=second`);
    await fillIn(first, 'ada', 'difference');
    await first.waitForURL(`${here()}/account?tab=first`);
    await fillIn(second, 'ada', 'difference');
    await second.waitForURL(`${here()}/account?tab=second`);
    assert.match(await second.locator('dl').innerText(), /Ada Lovelace/);
    await first.reload();
    assert.equal(first.url(), `${here()}/account?tab=first`);
  });

  for (const [where, origin] of [
    ['its first origin', here],
    ['its second origin', there],
  ] as const) {
    test(`lets tabs log in that a new browser opens at the same moment at ${where}, in another order`, async t => {
      const first = await newPage(t, browser);
      const more = Array.from({ length: 2 }, () => first.context().newPage());
      const tabs = [first, ...(await Promise.all(more))];
      const addresses = tabs.map((_, index) => `${origin()}/account?tab=${index}`);
      const answers = await openAtOnce(system, tabs, addresses);
      const cookies = await Promise.all(answers.map(answer => answer.headerValue('set-cookie')));
      assert.equal(new Set(cookies).size, tabs.length);
      const sessions = new Set<string | undefined>();
      for (const index of [2, 0, 1]) {
        const [tab = first, address = ''] = [tabs[index], addresses[index]];
        await isForm(tab);
        await fillIn(tab, 'ada', 'difference');
        await tab.waitForURL(address);
        assert.match(await tab.locator('dl').innerText(), /Ada Lovelace/);
        for (const one of [here(), origin()]) sessions.add(await cookieValue(tab, one, SESSION));
      }
      assert.equal(sessions.size, 1);
      const left = (await first.context().cookies()).map(({ name }) => name);
      assert.ok(!left.some(name => name.startsWith(PENDING)), left.join(' '));
    });
  }

  test('knows one at its second origin too, without asking again', async t => {
    const page = await newPage(t, browser);
    await logInAs(page);
    await page.goto(`${there()}/account?a=b`);
    await page.locator('dl').waitFor();
    assert.equal(page.url(), `${there()}/account?a=b`);
    assert.match(await page.locator('dl').innerText(), /Ada Lovelace/);
    const session = await cookieValue(page, there(), SESSION);
    assert.match(session ?? '', /^[0-9a-f]{64}$/);
    assert.equal(session, await cookieValue(page, here(), SESSION));
  });

  test('leads back to the second origin who began there, and knows them at the first', async t => {
    const page = await newPage(t, browser);
    await page.goto(`${there()}/account?began=there`);
    await isForm(page);
    await fillIn(page, 'ada', 'difference');
    await page.waitForURL(`${there()}/account?began=there`);
    await page.goto(`${here()}/account`);
    assert.equal(page.url(), `${here()}/account`);
  });

  test('logs out of both origins and of the provider', async t => {
    const page = await newPage(t, browser);
    await logInAs(page);
    await page.goto(`${there()}/account`);
    const session = await cookieValue(page, there(), SESSION);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(url => url.href.startsWith(`${provider()}/session/end`));
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(url => url.pathname === '/account/logged-out');
    for (const origin of [there(), here()]) {
      await page.goto(`${origin}/account`);
      await isForm(page);
    }
    const stolen = await fetch(`${here()}/account`, {
      headers: { cookie: `${SESSION}=${session}` },
      redirect: 'manual',
    });
    assert.equal(stolen.status, 401);
  });

  test('ends a login that has grown in the meantime', async t => {
    const page = await newPage(t, browser);
    await logInAs(page);
    await page.goto(`${here()}/account/admin`);
    await page.goto(`${here()}/account`);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(url => url.pathname === '/session/end');
    assert.equal(await cookieValue(page, here(), SESSION), undefined);
    assert.equal(await cookieValue(page, here(), XSRF), undefined);
  });

  test('lets no other site log one out', async t => {
    const page = await newPage(t, browser);
    await logInAs(page);
    await page.goto(`${provider()}/session/end/success`);
    await page.setContent(`<form method="post" action="${here()}/.gateway/oauth2/logout">
      <input name="realm" value="login.default"><input name="_xsrf" value="guess"><button>Win a prize</button></form>`);
    const [answer] = await Promise.all([
      page.waitForResponse(response => response.url().endsWith('/logout')),
      page.waitForURL(url => url.pathname.endsWith('/logout')),
      page.getByRole('button').click(),
    ]);
    assert.equal(answer.status(), 403);
    await page.goto(`${here()}/account`);
    assert.equal(page.url(), `${here()}/account`);
  });

  test("logs no user in as another, by the end of another browser's login", async t => {
    const begun = await request(here(), '/account');
    const grace = { username: 'grace', password: 'nanosecond' };
    const { href: end } = await logInAtProvider(begun.headers.location ?? '', grace, here());
    const victim = await newPage(t, browser);
    const answer = await victim.goto(end);
    assert.equal(answer?.status(), 403);
    assert.equal(await cookieValue(victim, here(), SESSION), undefined);
    await logInAs(victim);
    const again = await victim.context().request.get(end, { maxRedirects: 0 });
    assert.deepEqual([again.status(), again.headers()['set-cookie']], [403, undefined]);
    await victim.goto(`${here()}/account`);
    assert.match(await victim.locator('dl').innerText(), /Ada Lovelace/);
  });

  test('shows its session to no script, and its xsrf token to its own', async t => {
    const page = await newPage(t, browser);
    await logInAs(page);
    const cookies = await page.context().cookies(here());
    const flags = (name: string) => {
      const { domain, expires, httpOnly, path, secure } =
        cookies.find(cookie => cookie.name === name) ?? {};
      return { domain, httpOnly, path, secure, lasts: (expires ?? 0) > Date.now() / 1000 };
    };
    const expected = { domain: '127.0.0.1', path: '/', secure: false, lasts: true };
    assert.deepEqual(flags(SESSION), { ...expected, httpOnly: true });
    assert.deepEqual(flags(XSRF), { ...expected, httpOnly: false });
    const seen = await page.evaluate('document.cookie');
    assert.equal(seen, `${XSRF}=${await cookieValue(page, here(), XSRF)}`);
    const left = await page.context().cookies(`${here()}/.gateway/oauth2/`);
    assert.equal(
      left.find(({ name }) => name.startsWith(PENDING)),
      undefined,
    );
  });

  test('says so, and gives no session, to whom the provider denies', async t => {
    const page = await newPage(t, browser);
    await page.goto(`${here()}/account`);
    const [answer] = await Promise.all([
      page.waitForResponse(response => response.url().includes('redirection-endpoint')),
      page.waitForURL(url => url.pathname.endsWith('redirection-endpoint')),
      page.getByRole('button', { name: 'Cancel' }).click(),
    ]);
    assert.equal(answer.status(), 403);
    assert.match(await page.locator('body').innerText(), /access_denied/);
    assert.equal(await cookieValue(page, here(), SESSION), undefined);
  });

  test('asks for more when a page needs more, and gets it for users who may have it', async t => {
    const page = await newPage(t, browser);
    await logInAs(page);
    const before = await cookieValue(page, here(), SESSION);
    await page.getByRole('link', { name: 'Administration' }).click();
    await page.waitForURL(`${here()}/account/admin`);
    assert.match(await page.locator('body').innerText(), /Ada Lovelace, you may administer/);
    assert.notEqual(await cookieValue(page, here(), SESSION), before);
    await page.goto(`${here()}/account`);
    assert.match(await page.locator('dl').innerText(), /users:admin/);
  });

  test('refuses users who may not have it, every time, and keeps their login', async t => {
    const page = await newPage(t, browser);
    await logInAs(page, 'grace', 'nanosecond');
    for (const _ of [1, 2]) {
      const isRefusal = (answer: Response) =>
        answer.url().endsWith('/account/admin') && answer.status() === 403;
      await Promise.all([page.waitForResponse(isRefusal), page.goto(`${here()}/account/admin`)]);
    }
    await page.goto(`${here()}/account`);
    assert.match(await page.locator('dl').innerText(), /Grace Hopper/);
  });

  test('writes nothing into any log that opens a door', async t => {
    const userAgent = `of ${randomUUID()}`;
    const page = await newPage(t, browser, { userAgent });
    const folder = join(system.state, 'logs');
    const read = () => readdirSync(folder).map(file => readFileSync(join(folder, file), 'utf8'));
    const isLogged = () => {
      const lines = readFileSync(join(folder, 'edge.log'), 'utf8').split('\n').slice(0, -1);
      return lines.some(line => line.includes('redirection-endpoint') && line.includes(userAgent));
    };
    let way = '';
    page.on('request', asked => {
      way += `${asked.url()}\n`;
    });
    await page.goto(`${there()}/account`);
    await fillIn(page, 'grace', 'nanosecond');
    await page.waitForURL(`${there()}/account`);
    const parameters = [...way.matchAll(/[?&](?:code|state|ticket|handoff)=([^&\n]+)/g)].map(
      ([, value]) => value,
    );
    const cookies = (await page.context().cookies()).map(({ value }) => value);
    const secrets = [...parameters, ...cookies, 'nanosecond', 'sample-secret', 'eyJ'];
    assert.ok(secrets.length > 10, `${secrets.length}`);
    await until(() => isLogged() || undefined);
    const logs = read();
    for (const secret of secrets)
      assert.ok(!logs.some(log => log.includes(secret ?? '')), `a log has ${secret}`);
  });

  test('sends a browser from what is for scripts to the login too', async t => {
    const page = await newPage(t, browser);
    await page.goto(`${here()}/account/api`);
    await isForm(page);
    await fillIn(page, 'ada', 'difference');
    await page.waitForURL(`${here()}/account/api`);
    assert.match(await page.locator('body').innerText(), /"username":"ada"/);
  });
});
