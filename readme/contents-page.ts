import { relative } from 'node:path';
import { menu } from './menu.ts';

const INTRODUCTION = `# Documents

Start with the [tutorial](tutorial.md). It takes 15 minutes. \`npm run docs\` opens these pages as a
site.
`;

/** Returns the page that lists all pages, in Markdown, for docs/README.md. */
export function contentsPage(): string {
  const parts = menu().map(([part, items]) => {
    const rows = items.map(({ file, heading }) => `- [${heading}](${relative('docs', file)})`);
    return `## ${part}\n\n${rows.join('\n')}\n`;
  });
  return [INTRODUCTION, ...parts].join('\n');
}
