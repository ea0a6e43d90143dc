import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page, type Response, type Route } from 'playwright-core';

/** Why there is no browser; false when there is one. */
export function whyNoBrowser(): string | false {
  return process.env.GATEWAY_SKIP_CHROMIUM ?? (findChromium() === undefined ? 'no "chromium"' : false);
}

/** Debian's Chromium, without a window. (Its own sandbox needs rights that root in a container has not.) */
export async function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('no "chromium"');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-quic'] });
}

/** Fills in the login form that the page shows. */
export async function fillIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('Name').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** Opens an address in each tab. No request goes out before all are there; the first answers, which may be redirects. */
export async function openAtOnce(
  tabs: readonly Page[],
  addresses: readonly string[],
): Promise<readonly Response[]> {
  const { promise: all, resolve: go } = Promise.withResolvers<void>();
  let waiting = 0;
  const hold = async (route: Route) => {
    waiting += 1;
    if (waiting === tabs.length) go();
    await all;
    await route.continue();
  };
  const opened = tabs.map(async (tab, index) => {
    const address = addresses[index] ?? '';
    await tab.route(address, hold);
    const [answer] = await Promise.all([
      tab.waitForResponse(response => response.url() === address),
      tab.goto(address),
    ]);
    await tab.unroute(address);
    return answer;
  });
  return Promise.all(opened);
}

/** The value of a cookie that the browser would send to this URL. */
export async function cookieValue(page: Page, url: string, name: string): Promise<string | undefined> {
  const cookies = await page.context().cookies(url);
  return cookies.find(cookie => cookie.name === name)?.value;
}

function findChromium(): string | undefined {
  const files = (process.env.PATH ?? '').split(delimiter).map(folder => join(folder, 'chromium'));
  return files.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
