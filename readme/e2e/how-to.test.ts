import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fencedBlocks, readDocument } from '../code-blocks.ts';
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
  before(async () => {
    stage = await openStage();
    await play(withLogin, stage);
  });
  after(() => stage?.close());

  for (const page of pages) {
    test(`${page} does what it says`, async () => {
      const text = readDocument(page);
      stage.remove('my-site/resources');
      save(/first three\s+steps/.test(text) ? withLogin : withoutLogin, stage);
      await play(fencedBlocks(text), stage);
    });
  }
});
