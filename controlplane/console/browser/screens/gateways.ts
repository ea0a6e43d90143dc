import type {
  AbsentGateways,
  ConditionView,
  GatewayRow,
  ListenerRow,
} from '#controlplane/console/views/gateways.ts';
import type { Page } from '#controlplane/console/views/paging.ts';
import { count, shortName } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { to } from '../location.ts';
import { Pager, usePage } from '../pages.ts';
import { Badge, type Column, Loaded, Panel, Search, Source, Table, type Tone } from '../parts.ts';
import { ProblemLines } from '../problem-lines.ts';
import { hostText, State } from './routes.ts';

const SIZE = 10;

/** Gateways, where clients reach them, and their listeners. */
export function Gateways({ query }: { readonly query: URLSearchParams }): Shown {
  const view = usePage<Page<GatewayRow> & AbsentGateways>('gateways', query, SIZE);
  return html`<div class="head"><h1>Gateways</h1>
      <span class="muted" role="status">${view.data === undefined ? '' : count(view.data.total)}</span>
      <${Search} screen="gateways" query=${query} label="Search Gateway, listener, address, host" /></div>
    <${Loaded} view=${view} show=${({ absent, ...page }: Page<GatewayRow> & AbsentGateways) => html`
      ${page.total === 0 ? html`<section class="panel wide"><p class="empty">No Gateway in force is found.</p></section>` : html`<div class="panels">${page.items.map(row => html`<${Shows} key=${row.id} ...${row} />`)}</div>`}
      <${Pager} screen="gateways" query=${query} page=${page} size=${SIZE} />
      ${absent.length === 0 ? null : html`<div class="panels below"><${Panel} title="Not in force" wide=${true}><${ProblemLines} problems=${absent} /><//></div>`}`} />`;
}

function Shows(row: GatewayRow): Shown {
  const { addresses, className, id, listeners, nodeGroup, problems, programmed, state } = row;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return html`<${Panel} title=${shortName(id)} aside=${html`<${Source} ...${row} />`} wide=${true}>
    <dl class="facts">
      <dt>State</dt><dd><${State} state=${state} errors=${errors} warnings=${problems.length - errors} /></dd>
      <dt>Programmed</dt><dd><${Programmed} ...${programmed} /></dd>
      <dt>Addresses</dt><dd>${addresses.length === 0 ? html`<span class="muted">none yet</span>` : addresses.map(address => html`<div><code>${address}</code></div>`)}</dd>
      <dt>Class</dt><dd>${className}</dd>
      <dt>Proxies</dt><dd><a href=${to('proxies', { search: nodeGroup })}>${nodeGroup}</a></dd>
    </dl>
    <${Table} caption=${`Listeners of ${shortName(id)}`} columns=${COLUMNS} rows=${listeners} keyOf=${(listener: ListenerRow) => listener.id} />
    ${problems.length === 0 ? null : html`<${ProblemLines} problems=${problems} />`}
  <//>`;
}

const COLUMNS: readonly Column<ListenerRow>[] = [
  {
    head: 'Listener',
    cell: ({ id, name }) =>
      html`<b>${name}</b>${id.startsWith('ListenerSet/') ? html` <span class="muted">of ${shortName(id.replace(/\/[^/]*$/, ''))}</span>` : null}`,
  },
  { head: 'Port', className: 'tight', cell: ({ port, protocol }) => `${port} ${protocol}` },
  { head: 'Host', className: 'path', cell: ({ hostname }) => hostText(hostname) },
  {
    head: 'Routes',
    number: true,
    cell: ({ attachedRoutes, id }) =>
      html`<a href=${to('routes', { search: id })}>${count(attachedRoutes)}</a>`,
  },
  { head: 'Programmed', cell: ({ programmed }) => html`<${Programmed} ...${programmed} />` },
];

const TONES: Readonly<Record<ConditionView['is'], Tone>> = {
  yes: 'ok',
  no: 'bad',
  'not yet': 'warn',
};

function Programmed({ is, message }: ConditionView): Shown {
  return html`<${Badge} tone=${TONES[is]}>${is}<//> <span class="wrap">${message}</span>`;
}
