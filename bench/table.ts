/**
 * Returns a Markdown table of these columns. Each is a map from row to cell. The rows are in the
 * order of the first column.
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
