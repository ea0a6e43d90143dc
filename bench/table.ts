/**
 * A Markdown table of these columns, each a map from row to cell, in the order of the first
 * column's rows.
 */
export function toTable(
  title: string,
  columns: ReadonlyMap<string, ReadonlyMap<string, string>>,
): string {
  const [first = new Map<string, string>()] = columns.values();
  const lines = [
    [title, ...columns.keys()],
    ['---', ...[...columns].map(() => '---:')],
    ...[...first.keys()].map(row => [
      row,
      ...[...columns.values()].map(column => column.get(row) ?? ''),
    ]),
  ];
  return lines.map(cells => `| ${cells.join(' | ')} |\n`).join('');
}
