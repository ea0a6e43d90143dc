import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { readDocument } from './code-blocks.ts';
import { headingName } from './heading-name.ts';

const ROOT = join(import.meta.dirname, '..');
/** What programs of ours write, and readers of the tutorial. */
const MADE = ['.gateway', 'dist', 'my-site'];
const PAGES = globSync(['*.md', 'docs/**/*.md', '.github/**/*.md'], { cwd: ROOT }).sort();

describe('each page', () => {
  for (const page of PAGES) {
    test(`${page} links to pages and headings that are there`, () => {
      for (const link of linksOf(page)) {
        const [path = '', heading] = link.split('#');
        const target = path === '' ? page : join(dirname(page), path);
        assert.ok(existsSync(join(ROOT, target)), `${link}: there is no ${target}`);
        if (heading !== undefined) assert.ok(headingsOf(target).includes(heading), link);
      }
    });

    test(`${page} names files and folders that are there`, () => {
      const paths = readDocument(page).matchAll(
        /`(?:npx node |npm test -- )?([\w.-]+\/[\w./-]*)`/g,
      );
      for (const [, path = ''] of paths) {
        const [folder = ''] = path.split('/');
        const found = ['', '.ts'].some(end => existsSync(join(ROOT, `${path}${end}`)));
        if (existsSync(join(ROOT, folder)) && !MADE.includes(folder)) assert.ok(found, path);
      }
    });
  }
});

/** Returns the targets inside the repository. */
function linksOf(page: string): readonly string[] {
  const links = readDocument(page).matchAll(/\]\(([^)\s]+)\)/g);
  return [...links].map(([, link = '']) => link).filter(link => !/^(https?|mailto):/.test(link));
}

/** Returns the names that GitHub and the site give to the headings of a page. */
function headingsOf(page: string): readonly string[] {
  const headings = readDocument(page).matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, text = '']) => headingName(text));
}
