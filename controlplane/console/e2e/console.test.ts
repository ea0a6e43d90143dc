import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Page as ListPage } from '#controlplane/console/views/paging.ts';
import type { ServiceRow } from '#controlplane/console/views/services.ts';
import { getJson, request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { logIn, startBrowser, whyNoBrowser } from '../../../ext-authz/e2e/browser.ts';

/** Set to a folder, such as `docs/console`, to keep the screenshots there. */
const KEPT = process.env.CONSOLE_SCREENSHOTS;

const TROUBLE = (port: number) => `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: orders }
spec: { prefix: /orders/, service: "127.0.0.1:${port}" }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: shop }
spec: { prefix: /shop/, host: shop.example.com, service: user-service, resolver: sds, weight: 90 }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: shop-next }
spec: { prefix: /shop/, host: shop.example.com, service: "user-service:80", resolver: sds, weight: 10, tmeout_ms: 5 }
`;

/** One listener is served. The other asks for a protocol that nothing serves. */
const SITE = (port: number) => `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: gateway }
spec: { controllerName: gateway.internal/gateway-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: site }
spec:
  gatewayClassName: gateway
  listeners:
    - { name: http, port: ${port}, protocol: HTTP }
    - { name: phone, port: ${port}, protocol: SCTP }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: catalogue }
spec:
  parentRefs: [{ name: site, sectionName: http }, { name: site, sectionName: phone }]
  hostnames: [catalogue.example.com, www.catalogue.example.com]
  rules:
    - matches: [{ path: { value: /user } }, { path: { type: Exact, value: /me }, method: PUT }]
      filters: [{ type: ExtensionRef, extensionRef: { group: gateway.internal, kind: Filter, name: login } }]
      backendRefs: [{ name: user-service, port: 80, weight: 9 }, { name: next, port: 80 }]
    - matches: [{ path: { value: /open } }]
      backendRefs: [{ name: user-service, port: 80 }]
---
apiVersion: v1
kind: Service
metadata: { name: user-service }
spec: { ports: [{ port: 80 }] }
---
apiVersion: v1
kind: Service
metadata: { name: next }
spec: { ports: [{ port: 80 }] }
`;

const CHANGE = `apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: account }
spec:
  rules:
    - path: /account/admin*
      filters: [{ name: login }]
---
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: users }
spec:
  domain: gateway
  limits:
    - { name: logins, pattern: [{ generic_key: users }, { method: POST }, { remote_address: "*" }], rate: 50, unit: minute }
`;

/** One of two paths to a service is closed. */
const LOCKED = (port: number) => `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: locked }
spec: { prefix: /locked/, service: "127.0.0.1:${port}" }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: unlocked }
spec: { prefix: /unlocked/, service: "127.0.0.1:${port}" }
---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: locked }
spec: { rules: [{ path: /locked/*, filters: [{ name: no-such-filter }] }] }
`;

/** It is rejected. */
const NOWHERE = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: nowhere }
spec: { prefix: nowhere, service: user-service }
`;

/** It stands before those of the demo. */
const EARLIER = `apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: earlier }
spec:
  domain: gateway
  limits:
    - { name: earliest, pattern: [{ generic_key: users }, { method: DELETE }, { remote_address: "*" }], rate: 3, unit: minute }
`;

/** A screen, its path, and a text that it shows once it is there. */
const SCREENS: readonly (readonly [name: string, path: string, text: string])[] = [
  ['overview', '', 'Latest changes'],
  ['routes', 'routes', '/orders/'],
  ['route', 'route?id=Mapping/default/orders', 'Explain a request to it'],
  ['route-of-gateway', 'route?id=HTTPRoute/default/catalogue', 'as they are written'],
  ['gateways', 'gateways', 'SCTP is not served here'],
  ['explain', 'explain?url=/account/x', 'Mapping default/account'],
  ['services', 'services', 'user-service'],
  ['service', 'service?name=user-service', 'Last requests'],
  ['traffic', 'traffic', 'GET /orders/1'],
  ['security', 'security', 'grace'],
  ['limits', 'limits', 'remote_address=127.0.0.1'],
  ['certificates', 'certificates', 'root of the authority'],
  ['proxies', 'proxies', 'user-service-1-proxy'],
  ['change', 'change', 'Compare'],
];

/** Chromium without windows calls every tab visible. */
function turn(tab: Page, state: 'hidden' | 'visible'): Promise<void> {
  return tab.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    void document.dispatchEvent(new Event('visibilitychange'));`);
}

describe('in a browser, the console', { skip: whyNoBrowser() }, () => {
  let system: System;
  let browser: Browser;
  const errors: string[] = [];
  const at = (path: string) => `http://127.0.0.1:${system.ports.http}/console/${path}`;
  const ask = (path: string, headers = {}) =>
    request(system.edge, path, { headers }).catch(() => undefined);
  const post = () => request(system.edge, '/user/none', { method: 'POST' });

  before(async () => {
    browser = await startBrowser();
    system = await startSystem({ demo: true, instances: 2 });
    system.write('trouble.yaml', TROUBLE(system.freePort(0)));
    await system.statusWhen(({ resources }) =>
      resources.some(({ id, state }) => id === 'Mapping/default/shop-next' && state === 'in force'),
    );
    const port = system.freePort(1);
    system.write('site.yaml', SITE(port));
    await until(async () => {
      const headers = { host: 'catalogue.example.com' };
      const answer = await request(`http://127.0.0.1:${port}`, '/open', { headers }).catch(
        () => undefined,
      );
      return answer?.status === 404 || undefined;
    });
    const grace = await browser.newPage();
    await logIn(grace, `${system.edge}/account`, 'grace', 'nanosecond');
    await grace.context().close();
    for (let time = 0; time < 8; time += 1) await post();
    for (let round = 0; round < 30; round += 1) {
      await Promise.all(
        ['/user/health', '/user/ada', '/account/api/x', '/api/health'].map(path => ask(path)),
      );
      await ask('/shop/user/health', { host: 'shop.example.com' });
      await request(`http://127.0.0.1:${port}`, '/open', {
        headers: { host: 'catalogue.example.com' },
      }).catch(() => undefined);
      if (round % 6 === 0) await ask('/orders/1');
    }
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  afterEach(() => assert.deepEqual(errors.splice(0), []));

  /** Returns a page whose errors fail the test that is running. */
  const newPage = async (options: BrowserContextOptions = {}): Promise<Page> => {
    const viewport = { width: 1060, height: 660 };
    const page = await browser.newPage({ viewport, ...options });
    const failed = (text: string) => {
      if (!text.endsWith(NETWORK_CHANGED)) errors.push(`${page.url()}: ${text}`);
    };
    page.on('pageerror', error => failed(error.message));
    page.on('console', message => message.type() === 'error' && failed(message.text()));
    page.on('requestfailed', request => {
      const isLost = request.failure()?.errorText === NETWORK_CHANGED;
      if (isLost && request.resourceType() !== 'eventsource') page.reload().catch(() => {});
    });
    return page;
  };
  const open = async (
    t: { after(run: () => Promise<void>): void },
    path: string,
  ): Promise<Page> => {
    const page = await newPage();
    t.after(() => page.close());
    await page.goto(at(path));
    return page;
  };
  const see = (page: Page, text: string | RegExp) =>
    page.locator('main').getByText(text).first().waitFor({ timeout: 20_000 });

  test('leads from a failure to its route, its request, the explanation and the line', async t => {
    const page = await open(t, '');
    await see(page, 'Requests a second');
    await page.getByRole('link', { name: 'orders', exact: true }).first().click();
    await see(page, 'trouble.yaml:1');
    await page.getByRole('link', { name: 'GET /orders/1' }).first().click();
    await see(page, 'Mapping default/orders');
    await see(page, /trouble\.yaml:1\b/);
    await see(page, 'may pass any number of times');
  });

  test('shows a change and its ACKs without a reload', async t => {
    const page = await open(t, '');
    await see(page, 'Latest changes');
    system.write('late.yaml', TROUBLE(9).split('---')[0]?.replaceAll('orders', 'late') ?? '');
    await see(page, 'added Mapping late');
    await see(page, /ACKed by \d/);
  });

  test('is open in more tabs than a browser has connections to a host', async t => {
    const context = await browser.newContext();
    t.after(() => context.close());
    const tabs: Page[] = [];
    for (let number = 0; number < 8; number += 1) {
      const tab = await context.newPage();
      await tab.goto(at('overview'));
      await tab.getByRole('heading', { name: 'Overview' }).waitFor();
      await turn(tab, 'hidden');
      tabs.push(tab);
    }
    const [first] = tabs;
    assert.ok(first);
    const followed = first.waitForRequest('**/console/events');
    await turn(first, 'visible');
    await followed;
  });

  test('says what a change would do, and who loses a login', async t => {
    const page = await open(t, 'change');
    await page.getByRole('textbox').fill(CHANGE);
    await page.getByRole('button', { name: 'Compare' }).click();
    await see(page, 'loses its Filter');
    await see(page, 'looser');
    await keep(page, 'change');
  });

  test('keeps headers that are asked about out of every address', async t => {
    const page = await open(t, 'explain');
    const urls: string[] = [];
    page.on('request', request => urls.push(request.url()));
    await page.getByLabel('URL or path').fill('/account/x');
    await page.getByLabel('Headers').fill('Authorization: Bearer s3cret');
    await page.getByRole('button', { name: 'Explain' }).click();
    await see(page, 'Mapping default/account');
    await page.reload();
    await see(page, 'Mapping default/account');
    assert.equal(await page.getByLabel('Headers').inputValue(), 'Authorization: Bearer s3cret');
    assert.match(page.url(), /url=/);
    assert.doesNotMatch([page.url(), ...urls].join(), /s3cret|Authorization/i);
    await page.goBack();
    await see(page, 'Ask about a request');
    assert.equal(await page.getByLabel('Headers').inputValue(), '');
  });

  test('says when its login has ended, and how to go on', async t => {
    const page = await newPage();
    t.after(() => page.close());
    const body = '{"message":"no session","login_url":"https://elsewhere.example/"}';
    let ended = true;
    await page.route('**/console/api/routes*', route =>
      ended
        ? route.fulfill({ status: 401, contentType: 'application/json', body })
        : route.continue(),
    );
    await page.goto(at('routes?search=orders'));
    await see(page, 'Your login has ended.');
    // Views ask again by themselves, and the link goes with an answer. The page must ask.
    page.on('request', request => {
      if (request.isNavigationRequest()) {
        ended = false;
        errors.length = 0;
      }
    });
    await page.getByRole('link', { name: 'Load the page again.' }).click();
    await see(page, '/orders/');
  });

  test('says that it is not connected when the control plane hangs', async t => {
    const page = await newPage();
    t.after(() => page.close());
    await page.clock.install();
    // The clock of the page has no power over this timer of the browser.
    await page.addInitScript(`AbortSignal.timeout = ms => {
      const abort = new AbortController();
      setTimeout(() => abort.abort(), ms);
      return abort.signal;
    }`);
    await page.goto(at(''));
    await see(page, 'Latest changes');
    const link = (text: string) => page.locator('.link', { hasText: text }).waitFor();
    await link('Live');
    let hangs = true;
    await page.route(/\/console\/(?:events|api\/routes)/, route =>
      hangs ? undefined : route.continue(),
    );
    await page.getByRole('link', { name: 'Routes' }).first().click();
    await see(page, 'Loading');
    await page.clock.fastForward(30_000);
    await see(page, 'The control plane does not answer.');
    await page.clock.fastForward(40_000);
    await link('Not connected');
    hangs = false;
    await page.clock.fastForward(40_000);
    await link('Live');
    await see(page, '/orders/');
  });

  test('shows no answer about another request while it asks', async t => {
    const page = await open(t, 'explain?url=/user/ada');
    await see(page, 'Mapping default/user-service');
    await page.route('**/console/api/explain', () => {});
    await page.getByLabel('URL or path').fill('/account/x');
    await page.getByRole('button', { name: 'Explain' }).click();
    await see(page, 'Asking');
    assert.equal(await page.getByText('Mapping default/user-service').count(), 0);
  });

  test('asks once whether the reader may act, however many buttons there are', async t => {
    const page = await newPage();
    t.after(() => page.close());
    const asked: string[] = [];
    page.on('request', request => {
      if (request.url().endsWith('/visitor')) asked.push(request.url());
    });
    await page.goto(at('service?name=user-service'));
    await page.getByRole('button', { name: 'Drain', disabled: false }).nth(1).waitFor();
    assert.equal(asked.length, 1);
  });

  test('names each minute once below a curve', async t => {
    const page = await newPage({ viewport: { width: 1280, height: 800 } });
    t.after(() => page.close());
    await page.addInitScript(`{
      const { fillText } = CanvasRenderingContext2D.prototype;
      window.written = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        window.written.push(text);
        return fillText.call(this, text, ...place);
      };
    }`);
    await page.goto(at(''));
    const minutes = await until(async () => {
      const written = (await page.evaluate('window.written')) as string[];
      const end = written.indexOf('0');
      const found = written.slice(0, end).filter(text => /^\d\d:\d\d$/.test(text));
      return found.length > 1 ? found : undefined;
    });
    assert.deepEqual(minutes, [...new Set(minutes)]);
  });

  test('says which curve is which where the system forces its colours', async t => {
    const page = await newPage({ forcedColors: 'active' });
    t.after(() => page.close());
    await page.goto(at(''));
    await page.locator('.legend').first().waitFor();
    const colors = await page.evaluate(`[...document.querySelectorAll('.panel')].map(panel =>
      [...panel.querySelectorAll('.legend span')].map(
        key => getComputedStyle(key, '::before').backgroundColor))`);
    for (const panel of colors as string[][]) assert.equal(new Set(panel).size, panel.length);
  });

  test('tells how long ago something was by the clock of the control plane, as it goes on', async t => {
    const page = await newPage();
    t.after(() => page.close());
    let laterMs = 0;
    await page.route('**/console/api/*', async route => {
      const response = await route.fetch();
      const date = new Date(Date.now() + laterMs).toUTCString();
      await route.fulfill({ response, headers: { ...response.headers(), date } });
    });
    await page.goto(at('security'));
    await see(page, /answered.* (?:s|min) ago/);
    // The view itself does not change.
    laterMs = 3 * 3_600_000;
    await see(page, /answered.* 3 h ago/);
  });

  test('resets the counter that was chosen, also when another limit comes before it', async t => {
    const page = await newPage();
    t.after(() => page.close());
    const choice = page.getByLabel('Limit and label group');
    await page.goto(at('limits'));
    const accounts = choice.locator('option', { hasText: 'accounts' });
    await choice.selectOption((await accounts.getAttribute('value')) ?? '');
    await page.getByLabel('method').fill('PUT');
    await page.getByLabel('remote_address').fill('192.0.2.1');
    system.write('earlier.yaml', EARLIER);
    await see(page, 'earliest');
    const asked: string[] = [];
    page.on('dialog', dialog => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await page.locator('form', { has: choice }).getByRole('button', { name: 'Reset' }).click();
    assert.match(asked.join(), /^Let the counter of accounts:/);
  });

  test('leads from an explanation to the route of a Gateway', async t => {
    const page = await open(t, 'route?id=HTTPRoute/default/catalogue');
    await page.getByRole('link', { name: 'Explain a request to it' }).click();
    await page.getByRole('link', { name: 'HTTPRoute default/catalogue' }).first().click();
    await see(page, 'as they are written');
  });

  test('says why a route that a Problem leads to is not in force', async t => {
    system.write('nowhere.yaml', NOWHERE);
    const page = await open(t, '');
    await page.getByRole('link', { name: 'Mapping nowhere' }).first().click();
    await see(page, 'No route of this name is in force.');
    await see(page, 'it must begin with "/"');
  });

  test('calls no service failing for answers of a Filter', async () => {
    system.write('locked.yaml', LOCKED(system.ports.http));
    await until(async () => (await ask('/locked/'))?.status === 500 || undefined);
    for (let time = 0; time < 5; time += 1) await ask('/locked/');
    // It is counted in the same push as those before it, or in a later one.
    assert.equal((await ask('/unlocked/readyz'))?.status, 200);
    const base = `http://127.0.0.1:${system.ports.http}`;
    const found = await until(async () => {
      const path = `/console/api/services?search=:${system.ports.http}`;
      const { items } = await getJson<ListPage<ServiceRow>>(base, path);
      return items.find(({ rates }) => rates !== undefined);
    });
    const { failure, rates, word } = found;
    assert.deepEqual([word, rates?.requests, rates?.serverErrors], ['healthy', 1, 0]);
    assert.equal(failure, undefined);
  });

  test('keeps the resources to compare while the reader looks at another screen', async t => {
    const page = await open(t, 'change');
    await page.getByRole('textbox').fill(NOWHERE);
    await page.getByRole('link', { name: 'Routes' }).first().click();
    await see(page, '/orders/');
    await page.goBack();
    assert.equal(await page.getByRole('textbox').inputValue(), NOWHERE);
  });

  test('says why a Gateway is not in force', async t => {
    const port = system.ports.http;
    const gateway = SITE(port).split('---\n')[1] ?? '';
    system.write('taken.yaml', gateway.replace('name: site', 'name: taken'));
    t.after(async () => system.write('taken.yaml', ''));
    const page = await open(t, 'gateways?search=taken');
    await see(page, 'Not in force');
    await see(page, `cannot bind '127.0.0.1:${port}'`);
  });

  test('finds routes, and says where they are written', async t => {
    const page = await open(t, 'routes');
    await page.getByRole('searchbox').fill('shop problem');
    await see(page, '10 %');
    await see(page, 'trouble.yaml:11');
    await page.waitForURL(/search=shop\+problem/);
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
  });

  test('keeps what is typed while the view changes', async t => {
    const page = await open(t, 'routes');
    await see(page, '/orders/');
    // So the address does not get it.
    await page.evaluate('window.setTimeout = () => 0');
    const box = page.getByRole('searchbox');
    await box.fill('user');
    await page.evaluate("window.history.replaceState(null, '', '?sort=path')");
    await page.evaluate("window.dispatchEvent(new PopStateEvent('popstate'))");
    await page.evaluate('new Promise(resolve => requestAnimationFrame(resolve))');
    await page.evaluate('new Promise(resolve => requestAnimationFrame(resolve))');
    assert.equal(await box.inputValue(), 'user');
  });

  test('is used by keyboard alone', async t => {
    const page = await open(t, '');
    await see(page, 'Requests a second');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to content');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await see(page, '/orders/');
    await page.keyboard.press('/');
    await page.keyboard.type('user-service');
    await page.waitForURL(/search=user-service/);
    await page.locator('tbody a').first().focus();
    await page.keyboard.press('ArrowDown');
    const [first, second] = await page.locator('tbody tr td:nth-child(2)').allInnerTexts();
    assert.notEqual(first, second);
    const focused = await page.evaluate('document.activeElement.closest("td").innerText');
    assert.equal(focused, second);
    await page.keyboard.press('t');
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
  });

  test('paints within a second', async t => {
    const paints: number[] = [];
    // Other tests run beside this one.
    while (paints.length < 5 && !paints.some(ms => ms < 1_000)) {
      const page = await open(t, '');
      await see(page, 'Latest changes');
      const paint = await page.evaluate(
        'performance.getEntriesByName("first-contentful-paint")[0].startTime',
      );
      paints.push(Math.round(Number(paint)));
    }
    t.diagnostic(`first paint after ${paints.join(', ')} ms`);
    assert.ok(Math.min(...paints) < 1_000, `${paints} ms`);
  });

  describe('on each screen', () => {
    let plain: Page;
    let looks: readonly Page[];
    let posts: NodeJS.Timeout;
    before(async () => {
      // Counters begin again each minute.
      posts = setInterval(() => void post().catch(() => {}), 1_000);
      plain = await newPage();
      looks = await Promise.all(LOOKS.map(look => newPage({ ...look, bypassCSP: true })));
    });

    after(() => clearInterval(posts));

    /** Shows a path in a page, and fails when something there hinders people. */
    const check = async (page: Page, path: string, text: string) => {
      if (!page.url().endsWith(`/console/${path}`)) await page.goto(at(path));
      await page.getByText(text).first().waitFor({ timeout: 20_000 });
      const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      assert.equal(wide, false, 'the page must not be wider than the screen');
      assert.deepEqual(await page.evaluate(CUT), [], 'no panel may cut what is in it');
      assert.deepEqual(await hindrances(page), [], JSON.stringify(page.viewportSize()));
    };

    for (const [name, path, text] of SCREENS)
      test(`shows ${name}, and nothing there hinders anybody`, async () => {
        await plain.goto(at(path));
        await see(plain, text);
        if (name !== 'change') await keep(plain, name);
        await Promise.all(looks.map(page => check(page, path, text)));
      });

    test('shows what services answer, and what is drained, and nothing there hinders anybody', async () => {
      const service = 'service?name=user-service';
      for (const page of looks) {
        page.on('dialog', dialog => dialog.accept());
        await page.goto(at(service));
        await page.getByRole('button', { name: 'Drain' }).first().click();
        await check(page, service, 'no proxy gets the instance any more');
        await check(page, 'services', 'Drained instances');
        await page.getByRole('button', { name: 'Serve again' }).click();
        await page.getByText('the proxies get the instance again').waitFor();
      }
    });
  });
});

/** Tests beside this one make networks of their own, and each ends the requests of a browser. */
const NETWORK_CHANGED = 'net::ERR_NETWORK_CHANGED';

const CUT = `[...document.querySelectorAll('.panel')]
  .filter(panel => panel.scrollWidth > panel.clientWidth)
  .map(panel => panel.querySelector('h2, caption')?.textContent)`;

const LOOKS = [
  { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'light', viewport: { width: 360, height: 740 } },
] as const;

/** Returns the rules that the page violates, and where. */
async function hindrances(page: Page): Promise<readonly (readonly [string, readonly string[]])[]> {
  await page.evaluate(axe.source);
  // What passes would be most of the answer.
  const { violations } = (await page.evaluate(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => ({ violations }))",
  )) as Pick<axe.AxeResults, 'violations'>;
  return violations
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]);
}

async function keep(page: Page, name: string): Promise<void> {
  await page.locator('.link', { hasText: 'Live' }).waitFor();
  if (KEPT === undefined) return;
  mkdirSync(KEPT, { recursive: true });
  await page.screenshot({ path: join(KEPT, `${name}.jpg`), type: 'jpeg', quality: 70 });
}
