import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readDocument } from './code-blocks.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGES = globSync(['*.md', 'docs/**/*.md', 'readme/notes/*.md'], { cwd: ROOT }).sort();

describe('the prose of each page', () => {
  for (const page of PAGES) {
    const lines = proseOf(readDocument(page));

    test(`${page} is wrapped at 100 columns`, () => {
      assert.deepEqual(
        lines.filter(line => line.length > 100 && line.includes(' ')),
        [],
      );
    });

    test(`${page} has no semicolon`, () => {
      const text = lines.join('\n').replace(/`[^`]*`/g, '');
      assert.doesNotMatch(text, /;/);
    });
  }
});

/** Returns the lines outside blocks of code, tables and headings. */
function proseOf(markdown: string): readonly string[] {
  const withoutBlocks = markdown.replace(/^```[\s\S]*?^```$/gm, '');
  return withoutBlocks.split('\n').filter(line => !/^[|#]/.test(line));
}
