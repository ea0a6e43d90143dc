import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { escapeHtml } from '#process/escape-html.ts';
import { type MenuItem, menu } from '../readme/menu.ts';

const STYLE = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8');

/**
 * Returns a whole HTML page around the content that Markdown gave. `path` is that of the page,
 * `/docs/security.html`.
 */
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
<nav>${menu()
    .map(([part, items]) => menuPart(path, part, items))
    .join('\n')}</nav>
<main>${content}</main>
</body>
</html>
`;
}

function menuPart(path: string, part: string, items: readonly MenuItem[]): string {
  const links = items.map(({ file, heading }) => {
    const target = `/${file.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html')}`;
    const href = posix.relative(posix.dirname(path), target);
    const here = target === path ? ' aria-current="page"' : '';
    return `<li><a href="${href}"${here}>${escapeHtml(heading)}</a></li>`;
  });
  return `<h2>${part}</h2><ul>${links.join('')}</ul>`;
}
