/** Which part of a long list a screen shows. */
export type PageQuery = {
  /** Lower case. Each of its words is in what is found. */
  readonly search: string;
  readonly offset: number;
  readonly limit: number;
  readonly sort: string;
};

/** A part of a long list. `total` counts all that is found. */
export type Page<T> = {
  readonly total: number;
  readonly offset: number;
  readonly items: readonly T[];
};

const MOST_ITEMS = 200;
const LONGEST_SEARCH = 200;

/** Parses the query of a list. What is no number is the default. */
export function parsePage(query: Readonly<Record<string, unknown>>): PageQuery {
  return {
    search: textOf(query.search).slice(0, LONGEST_SEARCH).trim().toLowerCase(),
    offset: wholeOf(query.offset, 0, Number.MAX_SAFE_INTEGER),
    limit: Math.max(1, wholeOf(query.limit, 50, MOST_ITEMS)),
    sort: textOf(query.sort).slice(0, 20),
  };
}

/** Returns the items that have all words of the search, and of these one part. */
export function pageOf<T>(
  all: readonly T[],
  { search, offset, limit }: PageQuery,
  textOfItem: (item: T) => string,
): Page<T> {
  const words = search.split(/\s+/).filter(word => word !== '');
  const found =
    words.length === 0
      ? all
      : all.filter(item => {
          const text = textOfItem(item).toLowerCase();
          return words.every(word => text.includes(word));
        });
  const from = Math.min(offset, found.length);
  return { total: found.length, offset: from, items: found.slice(from, from + limit) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function wholeOf(value: unknown, otherwise: number, most: number): number {
  const text = textOf(value);
  return /^\d{1,15}$/.test(text) ? Math.min(Number(text), most) : otherwise;
}
