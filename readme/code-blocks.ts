import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** A fenced block of a Markdown text, such as "```yaml file=my.yaml". */
export type CodeBlock = {
  /** The first word after the fence, for example `yaml`. */
  readonly language: string;
  /** The other words: how the block is tested. */
  readonly marks: readonly string[];
  readonly code: string;
  /** Line of the fence, from 1. */
  readonly line: number;
};

/** Returns the text of a document, whose path is relative to the checkout. */
export function readDocument(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8');
}

/** Returns the fenced blocks of a Markdown text in their order. */
export function fencedBlocks(markdown: string): readonly CodeBlock[] {
  const blocks = markdown.matchAll(/^```(.*)\n((?:(?!```).*\n)*)```$/gm);
  return [...blocks].map(({ 1: info = '', 2: code = '', index }) => {
    const [language = '', ...marks] = info.split(' ');
    return { language, marks, code, line: markdown.slice(0, index).split('\n').length };
  });
}

/** Returns the code of the blocks that are in this language. */
export function codeBlocks(markdown: string, language: string): readonly string[] {
  return fencedBlocks(markdown).flatMap(block => (block.language === language ? [block.code] : []));
}

/** Returns the commands of a document's `sh` blocks, one a line. */
export function commands(markdown: string): readonly string[] {
  return codeBlocks(markdown, 'sh').flatMap(block => block.trimEnd().split('\n'));
}
