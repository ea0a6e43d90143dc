import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { escapeHtml } from '#process/escape-html.ts';

const ROOT = join(import.meta.dirname, '..');
const STYLE = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8');

/** The parts of the menu, in order, and the pages of each. */
const MENU: readonly (readonly [heading: string, files: string])[] = [
  ['Start', '{README,docs/tutorial}.md'],
  ['How to', 'docs/how-to/**/*.md'],
  ['Reference', 'docs/reference/**/*.md'],
  ['Explanation', 'docs/{explanation/*,security}.md'],
  ['Decisions', 'docs/adr/*.md'],
  ['Project', '{ARCHITECTURE,CONTRIBUTING,CHANGELOG,SECURITY,CODE_OF_CONDUCT}.md'],
];

/** Returns a whole HTML page around the content that Markdown gave. `path` is that of the page, `/docs/security.html`. */
export function htmlPage(path: string, content: string): string {
  const title = /<h1[^>]*>(.*?)<\/h1>/.exec(content)?.[1]?.replace(/<[^>]*>/g, '') ?? path;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<nav>${MENU.map(([heading, files]) => menuPart(path, heading, files)).join('\n')}</nav>
<main>${content}</main>
</body>
</html>
`;
}

function menuPart(path: string, heading: string, files: string): string {
  const items = globSync(files, { cwd: ROOT })
    .sort()
    .map(file => {
      const target = `/${file.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html')}`;
      const href = posix.relative(posix.dirname(path), target);
      const here = target === path ? ' aria-current="page"' : '';
      return `<li><a href="${href}"${here}>${escapeHtml(headingOf(file))}</a></li>`;
    });
  return items.length === 0 ? '' : `<h2>${heading}</h2><ul>${items.join('')}</ul>`;
}

function headingOf(file: string): string {
  const [, heading = file] = /^# (.*)$/m.exec(readFileSync(join(ROOT, file), 'utf8')) ?? [];
  return heading.replaceAll('`', '');
}
