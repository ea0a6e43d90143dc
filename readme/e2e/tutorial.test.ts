import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { startBrowser, whyNoBrowser } from '#ext-authz/e2e/browser.ts';
import { fencedBlocks, readDocument } from '../code-blocks.ts';
import { playBrowser } from '../play/browser.ts';
import { play } from '../play/play.ts';
import { openStage, type Stage } from '../play/stage.ts';

describe('the tutorial', { skip: whyNoBrowser() }, () => {
  let stage: Stage;
  let browser: Browser;
  before(async () => {
    browser = await startBrowser();
    stage = await openStage();
  });
  after(async () => {
    await browser?.close();
    await stage?.close();
  });

  test('puts a service, a login and a limit per user in place by its own steps', async () => {
    await play(fencedBlocks(readDocument('docs/tutorial.md')), stage, playBrowser(browser));
  });
});
