import type { Page } from '#controlplane/console/views/paging.ts';
import type { DrainedList, ServiceRow } from '#controlplane/console/views/services.ts';
import type { Drained } from '#files/drained-store.ts';
import { addressText, Drain } from '../drain.ts';
import { ago, count, ms, percent, rate } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { serverNow } from '../live.ts';
import { to } from '../location.ts';
import { PagedTable, usePage } from '../pages.ts';
import { Badge, type Column, Loaded, Panel, Search, type Tone } from '../parts.ts';

type Services = Page<ServiceRow> & DrainedList;

/** The services behind the gateway: healthy, or why not. */
export function Services({ query }: { readonly query: URLSearchParams }): Shown {
  const view = usePage<Services>('services', query);
  return html`<div class="head"><h1>Services</h1>
      <${Search} screen="services" query=${query} label="Search service" /></div>
    <${Loaded} view=${view} show=${({ drained, ...page }: Services) => html`
      <${PagedTable} caption="Services" screen="services" query=${query} page=${page} columns=${COLUMNS} empty="No service is found." keyOf=${({ name }: ServiceRow) => name} />
      ${drained.length === 0 ? null : html`<${AllDrained} drained=${drained} />`}`} />`;
}

/** Also those that no service has any more. An address may come back with another instance. */
function AllDrained({ drained }: DrainedList): Shown {
  return html`<div class="panels below"><${Panel} title="Drained instances" aside="of all services">
    <ul class="lines">${drained.map(
      (each: Drained) =>
        html`<li key=${addressText(each)}><div class="row"><code>${addressText(each)}</code> <${Drain} ...${each} drained=${true} /></div></li>`,
    )}</ul>
  <//></div>`;
}

const TONES: Readonly<Record<ServiceRow['word'], Tone>> = {
  healthy: 'ok',
  partly: 'warn',
  failing: 'bad',
  unknown: 'quiet',
};

const COLUMNS: readonly Column<ServiceRow>[] = [
  {
    head: 'Service',
    className: 'path',
    cell: ({ name }) => html`<a href=${to('service', { name })}>${name}</a>`,
  },
  {
    head: 'State',
    className: 'tight',
    cell: ({ word }) =>
      html`<${Badge} tone=${TONES[word]}>${word === 'unknown' ? 'no figures' : word}<//>`,
  },
  {
    head: 'Instances',
    number: true,
    cell: ({ healthy, members }) => (members === undefined ? '' : `${healthy} of ${members}`),
  },
  {
    head: 'Routes',
    number: true,
    cell: ({ name, routes }) =>
      html`<a href=${to('routes', { search: name })}>${count(routes)}</a>`,
  },
  {
    head: 'Requests/s',
    number: true,
    cell: ({ rates }) => (rates === undefined ? '' : rate(rates.rate)),
  },
  {
    head: '5xx',
    number: true,
    cell: ({ rates }) => (rates === undefined ? '' : percent(rates.serverErrors, rates.requests)),
  },
  { head: 'p99', number: true, cell: ({ rates }) => (rates === undefined ? '' : ms(rates.p99)) },
  {
    head: 'Last failure',
    className: 'wrap',
    cell: ({ failure }) =>
      failure === undefined
        ? ''
        : html`<span class="muted">${ago(failure.at, serverNow())} ago:</span> ${failure.text}`,
  },
];
