import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { startBrowser, whyNoBrowser } from '#ext-authz/e2e/browser.ts';
import { fencedBlocks, readDocument } from '../code-blocks.ts';
import { playBrowser } from '../play/browser.ts';
import { isRun, play, save } from '../play/play.ts';
import { openStage, type Stage } from '../play/stage.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TUTORIAL = 'docs/tutorial.md';

const pages = globSync('docs/**/*.md', { cwd: ROOT })
  .filter(page => page !== TUTORIAL && fencedBlocks(readDocument(page)).some(isRun))
  .sort();

/** The blocks of the tutorial's first steps. */
const stepsUntil = (heading: RegExp) =>
  fencedBlocks(readDocument(TUTORIAL).split(heading)[0] ?? '');
const withoutLogin = stepsUntil(/^## 3\./m);
const withLogin = stepsUntil(/^## 4\./m);

describe('the pages of docs/, after the first steps of the tutorial,', () => {
  let stage: Stage;
  let browser: Browser | undefined;
  before(async () => {
    if (whyNoBrowser() === false) browser = await startBrowser();
    stage = await openStage();
    await play(withLogin, stage);
  });
  after(async () => {
    await browser?.close();
    await stage?.close();
  });

  for (const page of pages) {
    const text = readDocument(page);
    const skip = text.includes('```text browser') && whyNoBrowser();
    test(`${page} does what it says`, { skip }, async () => {
      stage.remove('my-site/resources');
      save(/first three\s+steps/.test(text) ? withLogin : withoutLogin, stage);
      await play(fencedBlocks(text), stage, browser && playBrowser(browser));
    });
  }
});
