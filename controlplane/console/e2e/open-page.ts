import type { Browser, Page } from 'playwright-core';
import { newPage } from '../../../ext-authz/e2e/browser.ts';

/** Opens an address in a new browser, which says yes to what the page asks. */
export async function openPage(
  t: { after(end: () => Promise<void>): void },
  browser: Browser,
  address: string,
): Promise<Page> {
  const page = await newPage(t, browser);
  page.on('dialog', dialog => dialog.accept());
  await page.goto(address);
  return page;
}
