import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';

/** A reader's browser. */
export type PlayedBrowser = {
  /** Does the lines of a `text browser` block. One that begins with `open` has a new window. */
  play(lines: string): Promise<void>;
  /** Runs the script of a `js browser` block in the page that is open. */
  evaluate(script: string): Promise<void>;
};

type Step = readonly [RegExp, (page: Page, word: string) => Promise<unknown>];

const STEPS: readonly Step[] = [
  [/^open (\S+)$/, (page, url) => page.goto(url)],
  [/^log in as (\w+)$/, logInAs],
  [/^reload (\d+) times$/, reload],
  [
    /^see (.+)$/,
    async (page, text) => assert.ok((await bodyOf(page)).includes(text), await bodyOf(page)),
  ],
];

/** Plays in a browser whose windows know nothing of each other. */
export function playBrowser(browser: Browser): PlayedBrowser {
  let page: Page | undefined;
  return {
    play: async lines => {
      if (lines.startsWith('open ')) page = await (await browser.newContext()).newPage();
      assert.ok(page, 'no page is open');
      for (const line of lines.trim().split('\n')) await step(page, line);
    },
    evaluate: async script => {
      await page?.evaluate(`(async () => {${script}})()`);
    },
  };
}

async function step(page: Page, line: string): Promise<void> {
  for (const [pattern, run] of STEPS) {
    const [found, word = ''] = pattern.exec(line) ?? [];
    if (found === undefined) continue;
    await run(page, word);
    return;
  }
  throw new Error(`no step of a browser: ${line}`);
}

/** Fills in the pages that npm's `oidc-provider` has for development. */
async function logInAs(page: Page, name: string): Promise<void> {
  await page.locator('[name=login]').fill(name);
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
  await page.locator('[type=submit]').click();
}

async function reload(page: Page, times: string): Promise<void> {
  for (let time = 0; time < Number(times); time += 1) await page.reload();
}

const bodyOf = (page: Page) => page.locator('body').innerText();
