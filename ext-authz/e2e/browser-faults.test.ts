import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { cookieValue, fillIn, newPage, startBrowser, whyNoBrowser } from './browser.ts';
import { guardedPath, startCertifiedProvider, USER } from './certified-provider.ts';

describe('a browser', { skip: whyNoBrowser() }, () => {
  let system: System;
  let browser: Browser;
  before(async () => {
    browser = await startBrowser();
    system = await startSystem();
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  type Test = { after(run: () => Promise<void>): void };

  /**
   * Puts `/<name>` behind a login at a provider that is not there yet, and waits until the edge
   * does so.
   */
  const guard = async (name: string, number: number) => {
    const at = { edge: system.edge, port: system.freePort(number) };
    system.write(`${name}.yaml`, guardedPath(name, at));
    const statusNow = async () => (await request(system.edge, `/${name}`)).status;
    await until(async () => (await statusNow()) !== 404 || undefined);
    return {
      url: `${system.edge}/${name}`,
      session: (page: Page) => cookieValue(page, system.edge, `gateway_session.${name}.default`),
      start: async (t: Test, accessTokenTtl: number, refreshes = false) => {
        const provider = await startCertifiedProvider({ ...at, accessTokenTtl, refreshes });
        t.after(() => provider.close());
        return provider;
      },
    };
  };

  const body = (page: Page) => page.locator('body').innerText();

  /** Asks as the page's browser would, but follows nothing. */
  const statusFor = async (page: Page, url: string) =>
    (await page.context().request.get(url, { maxRedirects: 0 })).status();

  /** A provider that was never reached is asked again a little later each time. */
  const openForm = (page: Page, url: string) =>
    until(
      async () => ((await page.goto(url))?.status() === 200 ? true : undefined),
      15_000,
      'the form',
    );

  test('is told when the provider is not there, and logs in when it is', async t => {
    const path = await guard('away', 0);
    const page = await newPage(t, browser);
    const answer = await page.goto(path.url);
    assert.equal(answer?.status(), 502);
    assert.match(answer?.headers()['content-type'] ?? '', /^text\/html/);
    assert.match(await body(page), /502/);
    assert.equal(await path.session(page), undefined);
    await path.start(t, 3_600);
    await openForm(page, path.url);
    await fillIn(page, USER.username, USER.password);
    await page.waitForURL(path.url);
    assert.match(await body(page), /"username":"ada"/);
  });

  test('is told when the provider is silent', async t => {
    const path = await guard('silent', 5);
    const silent = createServer().listen(system.freePort(5), '127.0.0.1');
    t.after(() => void silent.close());
    const page = await newPage(t, browser);
    // A provider that refused a connection a moment ago is not asked again at once.
    const answer = await until(async () => {
      const seen = await page.goto(path.url);
      return seen?.status() === 502 ? undefined : seen;
    });
    assert.equal(answer?.status(), 504);
    assert.match(await body(page), /504/);
  });

  test('that is logged in stays so while the provider is away', async t => {
    const path = await guard('lasting', 1);
    const provider = await path.start(t, 3_600);
    const page = await newPage(t, browser);
    await openForm(page, path.url);
    await fillIn(page, USER.username, USER.password);
    await page.waitForURL(path.url);
    await provider.close();
    await page.reload();
    assert.match(await body(page), /"username":"ada"/);
  });

  test('whose session has ended gets a new one, without a form while the provider still knows it', async t => {
    const path = await guard('brief', 2);
    // So long that a busy machine, too, gets from the login to the question below.
    await path.start(t, 6);
    const page = await newPage(t, browser);
    await openForm(page, path.url);
    await fillIn(page, USER.username, USER.password);
    await page.waitForURL(path.url);
    const first = await path.session(page);
    assert.ok(first !== undefined);
    const stolen = { headers: { cookie: `gateway_session.brief.default=${first}` } };
    assert.equal((await request(system.edge, '/brief', stolen)).status, 200);
    await until(
      async () => (await request(system.edge, '/brief', stolen)).status === 303 || undefined,
    );
    await page.goto(path.url);
    await page.getByText('"username":"ada"').waitFor();
    assert.equal(page.url(), path.url);
    assert.notEqual(await path.session(page), first);
    assert.equal(await statusFor(page, path.url), 200);
  });

  test('notices nothing of access tokens that end, where the provider gives refresh tokens', async t => {
    const path = await guard('fresh', 4);
    // So long that a busy machine, too, judges a token before it ends.
    await path.start(t, 5, true);
    const page = await newPage(t, browser);
    await openForm(page, path.url);
    await fillIn(page, USER.username, USER.password);
    await page.waitForURL(path.url);
    const token = async () => {
      const answer = await page.context().request.get(path.url, { maxRedirects: 0 });
      assert.equal(answer.status(), 200);
      return JSON.parse(await answer.text()).scope;
    };
    const [session, first] = [await path.session(page), await token()];
    await until(async () => (await token()) !== first || undefined);
    assert.equal(await path.session(page), session);
  });

  test('keeps its login while the service that checks it is killed, and no visitor gets in meanwhile', async t => {
    const path = await guard('kept', 3);
    await path.start(t, 3_600);
    const page = await newPage(t, browser);
    await openForm(page, path.url);
    await fillIn(page, USER.username, USER.password);
    await page.waitForURL(path.url);
    const strangers = new Set<number>();
    await system.whileAway('ext-authz', () =>
      until(async () => {
        const { status } = await request(system.edge, '/kept');
        strangers.add(status);
        return status === 503 || undefined;
      }),
    );
    await until(async () => {
      strangers.add((await request(system.edge, '/kept')).status);
      return (await statusFor(page, path.url)) === 200 || undefined;
    }, 20_000);
    assert.deepEqual(
      [...strangers].filter(status => status !== 503 && status !== 303),
      [],
    );
    await page.reload();
    assert.match(await body(page), /"username":"ada"/);
  });
});
