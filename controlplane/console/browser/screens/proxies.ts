import type { Page } from '#controlplane/console/views/paging.ts';
import type { ProxyCounts, ProxyRow } from '#controlplane/console/views/proxies.ts';
import type { ServiceRow } from '#controlplane/console/views/services.ts';
import { ago, count, counted } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { serverNow } from '../live.ts';
import { to } from '../location.ts';
import { PagedTable, usePage } from '../pages.ts';
import { Badge, type Column, Loaded, Search, Stat } from '../parts.ts';

type Proxies = Page<ProxyRow> & {
  readonly counts: ProxyCounts;
  readonly edges: number;
  readonly services: readonly ServiceRow[];
};

/** Who runs what: in sync or not, and what was rejected. */
export function Proxies({ query }: { readonly query: URLSearchParams }): Shown {
  const view = usePage<Proxies>('proxies', query);
  return html`<div class="head"><h1>Proxies</h1>
      <${Search} screen="proxies" query=${query} label="Search node, group, address" /></div>
    <${Loaded} view=${view} show=${({ counts, edges, services, ...page }: Proxies) => html`
      <div class="stats">
        <${Stat} label="In sync" value=${count(counts['in sync'])} tone="ok" />
        <${Stat} label="Behind" value=${count(counts.behind)} tone=${counts.behind > 0 ? 'warn' : 'plain'} />
        <${Stat} label="Rejecting" value=${count(counts.rejecting)} tone=${counts.rejecting > 0 ? 'bad' : 'plain'} />
      </div>
      ${services.length === 0 ? null : html`<${Topology} edges=${edges} services=${services} />`}
      <${PagedTable} caption="Proxies and services" screen="proxies" query=${query} page=${page} columns=${COLUMNS} empty="No proxy is connected." keyOf=${(row: ProxyRow) => `${row.node} ${row.address}`} />`} />`;
}

const COLUMNS: readonly Column<ProxyRow>[] = [
  { head: 'Node', cell: ({ node }) => html`<b>${node}</b>` },
  { head: 'Group', cell: ({ group }) => group },
  {
    head: 'State',
    className: 'tight',
    cell: ({ word }) =>
      html`<${Badge} tone=${word === 'in sync' ? 'ok' : word === 'behind' ? 'warn' : 'bad'}>${word}<//>`,
  },
  {
    head: 'Last answer',
    className: 'tight',
    cell: ({ at }) =>
      at === undefined ? 'none since it connected' : `${ago(Date.parse(at), serverNow())} ago`,
  },
  { head: 'Versions', cell: row => html`<${Versions} ...${row} />` },
  { head: 'Address', className: 'whole', cell: ({ address }) => address },
];

function Versions({ types, word }: ProxyRow): Shown {
  // What is in force already when a proxy reconnects is not sent again.
  const isKept = (sent: string | undefined) => word === 'in sync' && sent === undefined;
  return html`<div class="row">${types.map(
    ({ acked, sent, type }) =>
      html`<span class="tight">${type} <code class=${acked === sent ? 'muted' : ''}>${acked?.slice(0, 8) ?? (isKept(sent) ? 'unchanged' : 'none')}${acked === sent || sent === undefined ? '' : ` → ${sent.slice(0, 8)}`}</code></span>`,
  )}</div>
  ${types.map(({ nack, type }) => (nack === undefined ? null : html`<p class="wrap"><${Badge} tone="bad">${type} rejected<//> ${nack}</p>`))}`;
}

/** Who asks whom: the edge, the services behind it, their instances. */
function Topology({ edges, services }: Pick<Proxies, 'edges' | 'services'>): Shown {
  const tones = { healthy: '', partly: 'warn', failing: 'bad', unknown: 'quiet' } as const;
  return html`<section class="panel wide" style="margin-bottom: 14px"><header><h2>Topology</h2></header>
    <div class="topology" style=${`--rows: ${services.length}`}>
      <div class="edge"><div class="node">edge <span class="muted">${counted(edges, 'proxy').replace('proxys', 'proxies')}</span></div></div>
      ${services.map(
        ({
          failure,
          healthy,
          members,
          name,
          word,
        }) => html`<span class="arrow" aria-hidden="true">→</span>
          <a class="node ${tones[word]}" href=${to('service', { name })}>${name}</a>
          <span class="arrow" aria-hidden="true">→</span>
          <div class="node ${tones[word]}" title=${failure?.text ?? ''}>${members === undefined ? 'no figures' : healthy && word === 'failing' ? `${healthy} of ${members}, each request fails` : `${healthy} of ${members} healthy`}</div>`,
      )}
    </div></section>`;
}
