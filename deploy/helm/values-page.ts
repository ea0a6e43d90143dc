import { inOneLine, type Value } from './values.ts';

/** Returns the table of the values, in Markdown. */
export function valuesTable(values: readonly Value[]): string {
  const rows = values
    .toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
    .map(
      ({ name, default: fallback, description }) =>
        `| \`${name}\` | \`${inOneLine(fallback)}\` | ${description} |`,
    );
  return `| value | default | meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}

/** What holds for all services stands first. */
function sortKey({ name }: Value): string {
  return `${name.includes('.') ? 1 : 0} ${name}`;
}
