import type { Page } from '#controlplane/console/views/paging.ts';
import { count } from './format.ts';
import { html, type Shown } from './html.ts';
import { useView, type View } from './live.ts';
import { to } from './location.ts';
import { type Column, Table } from './parts.ts';

const SIZE = 50;

/** Follows the part of a long list that the address names. */
export function usePage<T>(screen: string, query: URLSearchParams, size = SIZE): View<T> {
  const parameters = new URLSearchParams(query);
  parameters.set('limit', String(size));
  return useView<T>(`${screen}?${parameters}`);
}

type Part<T> = {
  readonly screen: string;
  readonly query: URLSearchParams;
  readonly page: Page<T>;
  readonly size?: number;
};

/** The part of a long list as a table, or why it is empty. */
export function PagedTable<T>({
  caption,
  columns,
  empty,
  keyOf,
  ...part
}: Part<T> & {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly empty: string;
  readonly keyOf: (row: T) => string | number;
}): Shown {
  const { items, total } = part.page;
  return html`<section class="panel wide">
    ${total === 0 ? html`<p class="empty">${empty}</p>` : html`<${Table} caption=${caption} columns=${columns} rows=${items} keyOf=${keyOf} />`}
    <${Pager} ...${part} />
  </section>`;
}

/** Leads through a long list. */
export function Pager<T>({ screen, query, page, size = SIZE }: Part<T>): Shown {
  const { items, offset, total } = page;
  if (total <= size) return null;
  const at = (next: number) =>
    to(screen, { ...Object.fromEntries(query), offset: next || undefined });
  const end = offset + items.length;
  return html`<nav class="pager" aria-label="Pages of the list">
    ${
      offset > 0
        ? html`<a href=${at(Math.max(0, offset - size))} rel="prev" data-key="p">Previous</a>`
        : html`<span>Previous</span>`
    }
    <span>${count(offset + 1)}–${count(end)} of ${count(total)}</span>
    ${
      end < total
        ? html`<a href=${at(offset + size)} rel="next" data-key="n">Next</a>`
        : html`<span>Next</span>`
    }
  </nav>`;
}
