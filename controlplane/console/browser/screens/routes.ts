import type { RoutePath } from '#controlplane/console/views/coverage.ts';
import type { Page } from '#controlplane/console/views/paging.ts';
import type { RouteRow } from '#controlplane/console/views/route-row.ts';
import type { RouteItem } from '#controlplane/console/views/routes.ts';
import { count, ms, percent, rate, shortName } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { go, to } from '../location.ts';
import { PagedTable, usePage } from '../pages.ts';
import { Badge, type Column, Loaded, Search, Source, type Tone } from '../parts.ts';

/** Host, path, filters, limits and service of each route. */
export function Routes({ query }: { readonly query: URLSearchParams }): Shown {
  const view = usePage<Page<RouteItem>>('routes', query);
  return html`<div class="head"><h1>Routes</h1>
      <span class="muted" role="status">${view.data === undefined ? '' : count(view.data.total)}</span>
      <${Sort} query=${query} />
      <${Search} screen="routes" query=${query} label="Search host, path, service, state" /></div>
    <${Loaded} view=${view} show=${(page: Page<RouteItem>) => html`
      <${PagedTable} caption="Routes" screen="routes" query=${query} page=${page} columns=${COLUMNS} empty="No route is found." keyOf=${(row: RouteItem) => row.id} />`} />`;
}

const SORTS: readonly (readonly [string, string])[] = [
  ['', 'host and path'],
  ['rate', 'most requests'],
  ['errors', 'most failures'],
  ['p99', 'slowest'],
];

function Sort({ query }: { readonly query: URLSearchParams }): Shown {
  const chosen = query.get('sort') ?? '';
  const choose = (event: Event) => {
    const sort = (event.target as HTMLSelectElement).value;
    go(to('routes', { ...Object.fromEntries(query), offset: undefined, sort }), true);
  };
  return html`<label class="row muted">Sort by <select onChange=${choose}>${SORTS.map(
    ([value, text]) => html`<option value=${value} selected=${value === chosen}>${text}</option>`,
  )}</select></label>`;
}

const COLUMNS: readonly Column<RouteItem>[] = [
  {
    head: 'Host',
    className: 'path',
    cell: ({ hosts }) => html`${hostText(hosts[0])}<${More} of=${hosts} />`,
  },
  { head: 'Path', className: 'path', cell: pathOf },
  { head: 'Filters', cell: row => html`<${Covered} ...${row} />` },
  {
    head: 'Service',
    className: 'path',
    cell: ({ instead, services, share }) =>
      html`${instead === 'redirect' ? 'redirect ' : ''}${instead === 'redirect' && services.length > 0 ? 'to ' : ''}${services[0]}<${More} of=${services} />${share === undefined ? null : html` <span class="muted tight">${Math.round(share)} %</span>`}`,
  },
  {
    head: 'Requests/s',
    number: true,
    cell: ({ rates }) => (rates === undefined ? '' : rate(rates.rate)),
  },
  {
    head: '5xx',
    number: true,
    cell: ({ rates }) =>
      rates === undefined
        ? ''
        : rates.serverErrors > 0
          ? html`<${Badge} tone="bad">${percent(rates.serverErrors, rates.requests)}<//>`
          : '0 %',
  },
  { head: 'p99', number: true, cell: ({ rates }) => (rates === undefined ? '' : ms(rates.p99)) },
  {
    head: 'State, written in',
    cell: row => html`<${State} ...${row} /> <${Source} ...${row} />`,
  },
];

/** Connections have no path, so their route has its name here. */
function pathOf({ id, paths }: RouteRow): Shown {
  const [first] = paths;
  const text = first === undefined ? `${id.split('/')[0]} ${shortName(id)}` : pathText(first);
  return html`<a href=${to('route', { id })} title=${shortName(id)}>${text}</a><span class="muted">${first && END[first.type]}</span><${More} of=${paths} />`;
}

/** What follows a path of this type. */
export const END: Readonly<Record<RoutePath['type'], string>> = {
  ...{ prefix: '*', segments: '/*', exact: '', regex: '' },
};

/** Formats `GET /path`, or `~ ` before an expression. */
export function pathText({ method, path, type }: RoutePath): string {
  return `${method === undefined ? '' : `${method} `}${type === 'regex' ? '~ ' : ''}${path}`;
}

export function hostText(host: string | undefined): Shown | string {
  if (host === undefined) return html`<span class="muted">none</span>`;
  return host === '*' ? html`<span class="muted">any</span>` : host;
}

/** How many there are behind the first. */
function More({ of }: { readonly of: readonly unknown[] }): Shown | null {
  return of.length < 2 ? null : html` <span class="muted tight">+${count(of.length - 1)}</span>`;
}

/** Which Filters decide. An open route says so. */
export function Covered({ covered, filters, listeners, nodeGroup }: RouteRow): Shown {
  if (covered === 'bytes') return html`<span class="muted">connections</span>`;
  if (covered === 'closed') return html`<${Badge} tone="warn">closed<//>`;
  if (nodeGroup !== 'edge' && listeners.length === 0)
    return html`<span class="muted">in ${nodeGroup}</span>`;
  if (covered === 'bypass') return html`<${Badge} tone="warn">bypassed<//>`;
  if (covered === 'none') return html`<${Badge} tone="quiet">open<//>`;
  const names = filters.map(shortFilter).join(', ');
  return covered === 'all'
    ? html`<span>${names}</span>`
    : html`<span>${names} <${Badge} tone="warn">a part is open<//></span>`;
}

/** Returns the name of a Filter without the usual namespace. */
export function shortFilter(name: string): string {
  return name.replace(/^default\//, '');
}

/** The state of a resource, and how many Problems it has. */
export function State({
  errors,
  state,
  warnings,
}: Pick<RouteRow, 'errors' | 'state' | 'warnings'>): Shown {
  const problems = errors + warnings;
  return html`<${Badge} tone=${TONES[state]}>${state}<//>${problems === 0 ? null : html` <${Badge} tone=${errors > 0 ? 'bad' : 'warn'}>${problems} ${problems === 1 ? 'Problem' : 'Problems'}<//>`}`;
}

const TONES: Readonly<Record<RouteRow['state'], Tone>> = {
  'in force': 'ok',
  trying: 'quiet',
  'last good': 'warn',
  closed: 'bad',
  'out of service': 'bad',
};
