import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type CodeBlock, fencedBlocks, readDocument } from '../code-blocks.ts';
import { play, save } from '../play/play.ts';
import { openStage, type Stage } from '../play/stage.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TUTORIAL = 'docs/tutorial.md';

const isRun = ({ language, marks }: CodeBlock) =>
  language === 'sh' && !marks.includes('shown') && !marks.includes('demo');
const pages = globSync('docs/**/*.md', { cwd: ROOT })
  .filter(page => page !== TUTORIAL && fencedBlocks(readDocument(page)).some(isRun))
  .sort();

/** What the pages go on from. */
const start = fencedBlocks(readDocument(TUTORIAL).split(/^## 3\./m)[0] ?? '');

describe('the pages of docs/, after the first two steps of the tutorial,', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
    await play(start, stage);
  });
  after(() => stage?.close());

  for (const page of pages) {
    test(`${page} does what it says`, async () => {
      await play(fencedBlocks(readDocument(page)), stage);
      // The next page begins where this one began.
      stage.remove('my-site/resources');
      save(start, stage);
    });
  }
});
