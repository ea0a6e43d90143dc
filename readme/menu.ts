import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** A page of the repository, and its heading without marks. */
export type MenuItem = { readonly file: string; readonly heading: string };

/** The parts of the menu, in order, and the files of each. */
const PARTS: readonly (readonly [part: string, files: string])[] = [
  ['Start', '{README,docs/tutorial}.md'],
  ['How to', 'docs/how-to/**/*.md'],
  ['Reference', 'docs/reference/**/*.md'],
  ['Explanation', 'docs/{explanation/*,security}.md'],
  ['Decisions', 'docs/adr/*.md'],
  ['Project', '{ARCHITECTURE,CONTRIBUTING,CHANGELOG,SECURITY,CODE_OF_CONDUCT}.md'],
];

/** Returns the pages of each part of the menu. The first page of a folder is its README.md. */
export function menu(): readonly (readonly [part: string, items: readonly MenuItem[]])[] {
  return PARTS.map(([part, files]) => [part, pagesOf(files)] as const);
}

function pagesOf(files: string): readonly MenuItem[] {
  const found = globSync(files, { cwd: ROOT }).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return found.map(file => ({ file, heading: headingOf(file) }));
}

/** Sorts a folder's own page, `kinds.md` or `kinds/README.md`, before the pages in it. */
function keyOf(file: string): string {
  return file.replace(/(README)?\.md$/, '').replaceAll('/', ' ');
}

function headingOf(file: string): string {
  const [, heading = file] = /^# (.*)$/m.exec(readFileSync(join(ROOT, file), 'utf8')) ?? [];
  return heading.replaceAll('`', '');
}
