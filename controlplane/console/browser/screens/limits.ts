import { useState } from 'preact/hooks';
import type { LimitRow } from '#controlplane/console/views/limits.ts';
import type { Page } from '#controlplane/console/views/paging.ts';
import type { SampledRequest } from '#controlplane/figures/figures.ts';
import { ActForm } from '../act.ts';
import { Counters } from '../counters.ts';
import { count } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { PagedTable, usePage } from '../pages.ts';
import { Badge, type Column, Loaded, Panel, Search, Source } from '../parts.ts';
import { RequestTable } from '../request-table.ts';

type Limits = Page<LimitRow> & {
  readonly over: readonly SampledRequest[];
};

/** How often clients may ask, and who asks more. */
export function Limits({ query }: { readonly query: URLSearchParams }): Shown {
  const view = usePage<Limits>('limits', query);
  return html`<div class="head"><h1>Limits</h1>
      <${Search} screen="limits" query=${query} label="Search limit, label, domain" /></div>
    <${Loaded} view=${view} show=${(page: Limits) => html`
      <${PagedTable} caption="Limits" screen="limits" query=${query} page=${page} columns=${COLUMNS} empty="No limit is found." keyOf=${({ id, name }: LimitRow) => `${id} ${name}`} />
      <div class="panels below">
        <${Counters} />
        <${Panel} title="Reset a counter" wide=${true}><div class="body"><${Reset} rows=${page.items} /></div><//>
        <${Panel} title="Over a limit" aside="answered 429, sampled" wide=${true}><${RequestTable} requests=${page.over} /><//>
      </div>`} />`;
}

/** Lets the counter of one label group begin again at 0. */
function Reset({ rows }: { readonly rows: readonly LimitRow[] }): Shown {
  const choices = rows.flatMap(({ domain, groups, id, name }) =>
    groups.map(group => {
      const text = `${name}: ${group.where}`;
      return { ...group, domain, text, key: `${id} ${text}` };
    }),
  );
  // Its place in the list may become that of another.
  const [wanted, choose] = useState('');
  const chosen = choices.find(({ key }) => key === wanted) ?? choices[0];
  if (chosen === undefined) return html`<p class="muted">No request can meet these limits.</p>`;
  const { domain, key, labels, text } = chosen;
  const read = (fields: Readonly<Record<string, string>>) => ({
    domain,
    labels: labels.map(({ key, value }, at) => ({
      key,
      value: value ?? fields[`label${at}`] ?? '',
    })),
  });
  return html`<${ActForm} key=${key} action="reset-counter" button="Reset" read=${read}
      ask=${`Let the counter of ${text} begin again at 0?`}>
    <label class="field grow">Limit and label group<select onChange=${(event: Event) => choose((event.target as HTMLSelectElement).value)}>${choices.map(
      each => html`<option value=${each.key} selected=${each.key === key}>${each.text}</option>`,
    )}</select></label>
    ${labels.map(
      ({ key, value }, at) =>
        html`<label class="field">${key}${
          value === undefined
            ? html`<input name=${`label${at}`} required maxlength="1000" spellcheck=${false} />`
            : html`<input value=${value} disabled />`
        }</label>`,
    )}
  <//>`;
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
