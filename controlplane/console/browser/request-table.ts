import type { SampledRequest } from '#controlplane/figures/figures.ts';
import { clock, isRoute, ms, shortName } from './format.ts';
import { html, type Shown } from './html.ts';
import { to } from './location.ts';
import { Badge, type Column, Table } from './parts.ts';

/** Requests that proxies have sampled. Each can be explained. */
export function RequestTable({
  requests,
  withRoute = true,
}: {
  readonly requests: readonly SampledRequest[];
  readonly withRoute?: boolean;
}): Shown {
  if (requests.length === 0)
    return html`<p class="empty">No request was sampled in the last 15 minutes.</p>`;
  const columns = withRoute ? COLUMNS : COLUMNS.filter(({ head }) => head !== 'Route');
  return html`<${Table} caption="Requests" columns=${columns} rows=${requests} keyOf=${(row: SampledRequest) => row.id} />`;
}

const COLUMNS: readonly Column<SampledRequest>[] = [
  {
    head: 'At',
    className: 'tight',
    cell: ({ at }) => html`<span title=${new Date(at).toISOString()}>${clock(at)}</span>`,
  },
  { head: 'Status', cell: row => html`<${Status} ...${row} />` },
  {
    head: 'Request',
    className: 'path',
    cell: row =>
      html`<a href=${explainOf(row)} title="Explain this">${row.method} ${row.path}</a> <span class="muted">${row.host}</span>`,
  },
  {
    head: 'Route',
    cell: ({ route }) =>
      isRoute(route)
        ? html`<a href=${to('route', { id: route })}>${shortName(route)}</a>`
        : html`<span class="muted">${route.includes('/') ? shortName(route) : route || 'none'}</span>`,
  },
  {
    head: 'Took',
    number: true,
    cell: ({ attempts, durationMs }) =>
      html`${ms(durationMs)}${attempts > 1 ? html` <${Badge} tone="quiet">${attempts} tries<//>` : null}`,
  },
  {
    head: 'Client',
    className: 'whole',
    cell: ({ client }) => html`<a href=${to('traffic', { client })}>${client}</a>`,
  },
  {
    head: 'Proxy',
    cell: ({ node, upstream }) =>
      html`${node}${upstream === '' ? null : html` <span class="muted">→ <code>${upstream}</code></span>`}`,
  },
  {
    head: 'Why',
    className: 'wrap',
    cell: ({ details, failure, flags }) =>
      failure || [...flags, details === 'via_upstream' ? '' : details].filter(Boolean).join(' '),
  },
];

function Status({ grpcStatus, status }: SampledRequest): Shown {
  const tone = status >= 500 || status === 0 ? 'bad' : status >= 400 ? 'warn' : 'ok';
  return html`<${Badge} tone=${tone}>${grpcStatus ?? (status === 0 ? 'none' : status)}<//>`;
}

function explainOf({ client, group, host, method, path, scheme }: SampledRequest): string {
  return to('explain', {
    method,
    url: `${scheme || 'http'}://${host}${path}`,
    from: client,
    group,
  });
}
