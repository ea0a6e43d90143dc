import assert from 'node:assert/strict';
import { until } from '#envoy/e2e/until.ts';
import type { CodeBlock } from '../code-blocks.ts';
import type { PlayedBrowser } from './browser.ts';
import type { Stage } from './stage.ts';

/** Longest time for a page's command to print what the page says, in ms. */
const PATIENCE_MS = 90_000;

/** The same for a browser: shorter than the minutes that limits are counted in. */
const BROWSER_MS = 25_000;

/**
 * Does what the blocks of a page tell the reader, in their order: saves files, runs commands, opens
 * the browser. An edit takes a moment, so commands are run again until they print what the block
 * after them shows.
 */
export async function play(
  blocks: readonly CodeBlock[],
  stage: Stage,
  browser?: PlayedBrowser,
): Promise<void> {
  for (const [index, block] of blocks.entries()) {
    const next = blocks[index + 1];
    const shown = next?.language === 'text' && next.marks.length === 0 ? next.code : undefined;
    await playBlock(block, shown, stage, browser).catch((error: unknown) => {
      throw new Error(`The block in line ${block.line}: ${String(error)}`, { cause: error });
    });
  }
}

async function playBlock(
  block: CodeBlock,
  shown: string | undefined,
  stage: Stage,
  browser?: PlayedBrowser,
): Promise<void> {
  const { code, language, marks } = block;
  save([block], stage);
  if (language === 'text' && marks.includes('browser'))
    await retry(async () => browser?.play(stage.here(code)), BROWSER_MS);
  if (language === 'js' && marks.includes('browser')) await browser?.evaluate(code);
  if (!isRun(block)) return;
  const expected = pattern(stage.here(shown ?? ''));
  const said = marks.includes('background')
    ? (await stage.start(code)).said
    : () => stage.run(code);
  await retry(async () => assert.match((await said()).replaceAll('\r', ''), expected), PATIENCE_MS);
}

/** Returns whether a block is commands that `play` runs. Others are shown, or are for the demo. */
export function isRun({ language, marks }: CodeBlock): boolean {
  return language === 'sh' && (marks.length === 0 || marks.includes('background'));
}

/** Saves the blocks that the reader saves. */
export function save(blocks: readonly CodeBlock[], stage: Stage): void {
  for (const { code, marks } of blocks) {
    const file = fileOf(marks);
    if (file !== undefined) stage.write(file, code);
  }
}

/** Returns the file that the reader saves a block in. */
export function fileOf(marks: readonly string[]): string | undefined {
  return marks.find(mark => mark.startsWith('file='))?.slice('file='.length);
}

/** Does again what fails, and throws the last error when the time is over. */
async function retry(action: () => Promise<void>, withinMs: number): Promise<void> {
  let last: unknown;
  const attempt = async () => {
    try {
      await action();
      return true;
    } catch (error) {
      last = error;
      return undefined;
    }
  };
  await until(attempt, withinMs).catch(() => {
    throw last;
  });
}

/** Returns the expression for what a page shows, where an ellipsis stands for anything. */
function pattern(shown: string): RegExp {
  const parts = shown.trim().split('…').map(RegExp.escape);
  return new RegExp(parts.join('[^]*?'), 'm');
}
