import assert from 'node:assert/strict';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Response,
} from 'playwright-core';
import { request } from '#envoy/e2e/request.ts';
import type { System } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { parseActivity } from '#launcher/drain-envoy.ts';
import { findTool } from '#launcher/testing/find-tool.ts';

const COMMAND = 'chromium-headless-shell';

/** Returns why there is no browser, or false when there is one. */
export function whyNoBrowser(): string | false {
  return findTool(COMMAND).skip;
}

/**
 * Debian's Chromium, without a window. (Its own sandbox needs rights that root in a container has
 * not.)
 */
export async function startBrowser(args: readonly string[] = []): Promise<Browser> {
  const { path } = findTool(COMMAND);
  return chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-quic', ...args],
  });
}

/** Returns a page of a browser that has never been here. It closes with the test. */
export async function newPage(
  t: { after(end: () => Promise<void>): void },
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options);
  t.after(() => context.close());
  return context.newPage();
}

/** Opens an address that needs a login, logs in at the demo's provider, and waits to be back. */
export async function logIn(
  page: Page,
  address: string,
  username: string,
  password: string,
): Promise<void> {
  await page.goto(address);
  await page.waitForURL(({ pathname }) => pathname.startsWith('/interaction/'));
  await fillIn(page, username, password);
  await page.waitForURL(address);
}

/** Fills in the login form that the page shows. */
export async function fillIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('Name').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/**
 * Opens an address in each tab, and holds all decisions back until the edge has the requests of
 * all. Returns the first answers, which may be redirects.
 */
export async function openAtOnce(
  system: System,
  tabs: readonly Page[],
  addresses: readonly string[],
): Promise<readonly Response[]> {
  const decider = await system.pid('ext-authz');
  assert.ok(decider !== undefined);
  process.kill(decider, 'SIGSTOP');
  try {
    const opened = tabs.map(async (tab, index) => {
      const address = addresses[index] ?? '';
      const [answer] = await Promise.all([
        tab.waitForResponse(response => response.url() === address),
        tab.goto(address),
      ]);
      return answer;
    });
    const admin = `http://127.0.0.1:${system.ports.edgeAdmin}`;
    await until(async () => {
      const { body } = await request(
        admin,
        '/stats?filter=%5Ehttp%5C..*downstream_(cx%7Crq)_active%24',
      );
      return parseActivity(body).requests >= tabs.length || undefined;
    });
    process.kill(decider, 'SIGCONT');
    return await Promise.all(opened);
  } finally {
    process.kill(decider, 'SIGCONT');
  }
}

/** The value of a cookie that the browser would send to this URL. */
export async function cookieValue(
  page: Page,
  url: string,
  name: string,
): Promise<string | undefined> {
  const cookies = await page.context().cookies(url);
  return cookies.find(cookie => cookie.name === name)?.value;
}
