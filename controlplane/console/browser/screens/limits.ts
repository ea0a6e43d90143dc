import type { LimitRow } from '#controlplane/console/views/limits.ts';
import type { Page } from '#controlplane/console/views/paging.ts';
import { count } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { useView } from '../live.ts';
import { Badge, type Column, Loaded, Pager, Search, Source, Table } from '../parts.ts';

const SIZE = 50;

/** How often clients may ask. */
export function Limits({ query }: { readonly query: URLSearchParams }): Shown {
  const parameters = new URLSearchParams(query);
  parameters.set('limit', String(SIZE));
  const view = useView<Page<LimitRow>>(`limits?${parameters}`);
  return html`<div class="head"><h1>Limits</h1>
      <${Search} screen="limits" query=${query} label="Search limit, label, domain" /></div>
    <${Loaded} view=${view} show=${({
      items,
      offset,
      total,
    }: Page<LimitRow>) => html`<section class="panel wide">
      ${total === 0 ? html`<p class="empty">No limit is found.</p>` : html`<${Table} caption="Limits" columns=${COLUMNS} rows=${items} keyOf=${({ id, name }: LimitRow) => `${id} ${name}`} />`}
      <${Pager} screen="limits" query=${query} total=${total} offset=${offset} shown=${items.length} size=${SIZE} />
    </section>`} />`;
}

const COLUMNS: readonly Column<LimitRow>[] = [
  { head: 'Limit', cell: ({ name }) => html`<b>${name}</b>` },
  { head: 'Requests', className: 'tight', cell: ({ rate, unit }) => `${count(rate)} a ${unit}` },
  {
    head: 'Over it',
    className: 'tight',
    cell: ({ action }) =>
      action === 'Enforce' ? '429' : html`<${Badge} tone="quiet">only logged<//>`,
  },
  { head: 'Labels', className: 'path wrap', cell: ({ pattern }) => pattern || 'any' },
  { head: 'Domain', cell: ({ domain }) => domain },
  {
    head: 'Problems',
    cell: ({ problems }) => (problems === 0 ? '' : html`<${Badge} tone="warn">${problems}<//>`),
  },
  { head: 'Written in', cell: row => html`<${Source} ...${row} />` },
];
