import { BENCHES } from './benches.ts';

/** A page of `bench/results/`. */
export type MeasuredPage = {
  readonly name: string;
  readonly title: string;
  /** What stands below the title. */
  readonly body: string;
};

/** Something measured in one run, in µs of CPU. Less is better. */
export type Comparison = {
  readonly title: string;
  readonly page: string;
  readonly bars: readonly Bar[];
};
export type Bar = { readonly label: string; readonly us: number; readonly isOurs: boolean };

type Cell = readonly [label: string, row: string, column: string];

/** `ours` are labels. The cells are of the first table of the page that has all of them. */
const COMPARISONS: readonly {
  readonly title: string;
  readonly page: string;
  readonly cells: readonly Cell[];
  readonly ours: readonly string[];
}[] = [
  {
    title: 'A rate limit decision: CPU of the service and its store',
    page: 'ghz',
    cells: [
      ['envoyproxy/ratelimit, Redis', serviceRow('decision'), 'envoyproxy/ratelimit + Redis'],
      ['Limitador, memory', serviceRow('decision'), 'Limitador, memory'],
      ['ours, Redis', serviceRow('decision'), 'Redis, framed'],
      ['ours, memory', serviceRow('decision'), 'memory, framed'],
    ],
    ours: ['ours, Redis', 'ours, memory'],
  },
  {
    title: 'The check of a session: CPU of the service and its store',
    page: 'oauth2',
    cells: [
      ['grpc-js that decides nothing', serviceRow('request'), 'constant answer, grpc-js'],
      ['ours, Redis', serviceRow('request'), 'ours, framed, Redis'],
      ['ours', serviceRow('request'), 'ours, framed'],
    ],
    ours: ['ours, Redis', 'ours'],
  },
  {
    title: 'A request of the last Mapping: CPU of Envoy',
    page: 'routes',
    cells: [
      ['10,000 Mappings as a list', '10000, as lists', 'a prefix each'],
      ['ours, 10,000 Mappings', '10000', 'a prefix each'],
      ['ours, 1 Mapping', '1 Mapping', 'a prefix each'],
    ],
    ours: ['ours, 10,000 Mappings', 'ours, 1 Mapping'],
  },
  {
    title: 'A request to a service: CPU of Envoy',
    page: 'public-path',
    cells: [
      ['with a login', 'Envoy', 'a login on this path'],
      ['public, beside a login', 'Envoy', 'a login on another path'],
      ['without any login', 'Envoy', 'no login and no limit'],
    ],
    ours: ['with a login', 'public, beside a login', 'without any login'],
  },
];

function serviceRow(what: string): string {
  return `CPU of service + store, µs a ${what}`;
}

/** Returns the pages that `read` finds, in their order. */
export function measuredPages(read: (name: string) => string | undefined): readonly MeasuredPage[] {
  return BENCHES.flatMap(({ name }) => {
    const [first = '', ...rest] = (read(name) ?? '').split('\n');
    if (!first.startsWith('# ')) return [];
    return [{ name, title: first.slice(2), body: rest.join('\n').trim() }];
  });
}

/**
 * Returns what can be compared. A page that is missing is left out.
 * @throws when no table of a page has all cells
 */
export function comparisons(pages: readonly MeasuredPage[]): readonly Comparison[] {
  return COMPARISONS.flatMap(({ cells, ours, page, title }) => {
    const found = pages.find(({ name }) => name === page);
    if (found === undefined) return [];
    const read = readCells(found, cells);
    const bars = cells.map(([label], at) => ({
      ...{ label, us: microseconds(read[at] ?? ''), isOurs: ours.includes(label) },
    }));
    return [{ title, page, bars }];
  });
}

/** Returns one page of all results. */
export function summaryPage(pages: readonly MeasuredPage[], machine: string): string {
  return `# Benchmarks

Written by \`npm run bench -- --all\`. ${machine} Each part says when it was measured, and the
versions of what it is compared to. What is compared was measured side by side in one run.

![CPU time for what the gateway does](../../docs/benchmarks.svg)

${comparisons(pages).map(comparisonTable).join('\n')}
## All results

${pages.map(({ name, title }) => `- [${title}](${name}.md)\n`).join('')}
${pages.map(({ body, title }) => `## ${title}\n\n${body}\n`).join('\n')}`;
}

function comparisonTable({ bars, title }: Comparison): string {
  const most = Math.max(...bars.map(({ us }) => us));
  const lines = bars.map(
    ({ label, us }) => `| ${label} | ${us.toFixed(1)} | ${(us / most).toFixed(2)} |\n`,
  );
  return `| ${title} | µs | × |\n|---|---:|---:|\n${lines.join('')}`;
}

/** Returns the rows of each table, by their first cell. The first row names the columns. */
function tablesOf({ body }: MeasuredPage): readonly ReadonlyMap<string, readonly string[]>[] {
  return body.split(/\n(?!\|)/).flatMap(block => {
    const rows = block
      .split('\n')
      .filter(line => line.startsWith('|'))
      .map(cellsOf);
    const [columns] = rows;
    return columns === undefined
      ? []
      : [new Map([['', columns], ...rows.slice(1).map(row => [row[0] ?? '', row] as const)])];
  });
}

/**
 * Returns cells of the first table of a page that has all of them.
 * @throws when there is none
 */
function readCells(page: MeasuredPage, cells: readonly Cell[]): readonly string[] {
  for (const table of tablesOf(page)) {
    const read = cells.flatMap(([, row, column]) => {
      const at = table.get('')?.indexOf(column, 1) ?? -1;
      return at < 0 ? [] : (table.get(row)?.slice(at, at + 1) ?? []);
    });
    if (read.length === cells.length) return read;
  }
  const wanted = cells.map(([, row, column]) => `"${row}" of "${column}"`).join(', ');
  throw new Error(`bench/results/${page.name}.md has no table with ${wanted}`);
}

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map(cell => cell.replaceAll('**', '').trim());
}

/** Reads `12.5 µs`, `12.5 + 3` (a service and its store) and `47.8 µs, 1.15 ×`. */
function microseconds(cell: string): number {
  const [first = ''] = cell.split(',');
  const sum = first
    .replace('µs', '')
    .split('+')
    .reduce((total, part) => total + Number(part), 0);
  if (!(sum > 0)) throw new Error(`"${cell}" is no time`);
  return sum;
}
