import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** The text of a document at the top of the checkout. */
export function readDocument(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8');
}

/** The fenced code blocks of a Markdown text that are in this language. */
export function codeBlocks(markdown: string, language: string): readonly string[] {
  const blocks = markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, found, code]) => (found === language && code !== undefined ? [code] : []));
}

/** The commands of a document's `sh` blocks, one a line. */
export function commands(markdown: string): readonly string[] {
  return codeBlocks(markdown, 'sh').flatMap(block => block.trimEnd().split('\n'));
}
