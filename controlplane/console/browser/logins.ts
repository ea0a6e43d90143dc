import type { Known, LoginsView } from '#controlplane/console/views/knowledge.ts';
import type {
  FilterSessions,
  ListedSession,
  ProviderState,
  Sessions,
} from '#controlplane/knowledge/knowledge.ts';
import { ActForm } from './act.ts';
import { ago, count, counted, shortName } from './format.ts';
import { html, type Shown } from './html.ts';
import { serverNow, useView } from './live.ts';
import { Badge, type Column, Empty, Loaded, Panel, Table } from './parts.ts';

/** What ext-authz knows: the providers, and who is logged in. */
export function Logins(): Shown {
  const view = useView<LoginsView>('logins');
  return html`<${Panel} title="Keys and answers of providers" wide=${true}>
      <${Loaded} view=${view} show=${({ providers }: LoginsView) => html`<${Providers} known=${providers} />`} />
    <//>
    <${Panel} title="Sessions" wide=${true}>
      <${Loaded} view=${view} show=${({ sessions }: LoginsView) => html`<${AllSessions} known=${sessions} />`} />
    <//>`;
}

function Providers({ known }: { readonly known: LoginsView['providers'] }): Shown {
  if ('error' in known) return html`<${Unknown} error=${known.error} />`;
  if (known.providers.length === 0) return html`<${Empty}>No Filter has a provider.<//>`;
  return html`<${Table} caption="Providers" columns=${PROVIDERS} rows=${known.providers} keyOf=${({ filter }: ProviderState) => filter} />`;
}

function Unknown({ error }: { readonly error: string }): Shown {
  return html`<p class="notice bad">ext-authz cannot be asked. ${error}</p>`;
}

const PROVIDERS: readonly Column<ProviderState>[] = [
  { head: 'Filter', cell: ({ filter }) => html`<b>${shortName(`Filter/${filter}`)}</b>` },
  { head: 'Issuer', className: 'path', cell: ({ issuer }) => issuer },
  {
    head: 'Keys in force',
    className: 'wrap',
    cell: ({ keys }) =>
      keys.length === 0
        ? html`<span class="muted">not asked for yet</span>`
        : keys.map(
            ({ algorithm, kid }) =>
              html`<div><code>${kid || 'without a kid'}</code> ${algorithm}</div>`,
          ),
  },
  {
    head: 'Last answer',
    className: 'wrap',
    cell: ({ answer, answered, failed }) =>
      answered === 0
        ? html`<span class="muted">not asked yet</span>`
        : html`<${Badge} tone=${failed ? 'bad' : 'ok'}>${failed ? 'failed' : 'answered'}<//> ${answer}<span class="muted">, ${ago(answered, serverNow())} ago</span>`,
  },
];

function AllSessions({ known }: { readonly known: Known<Sessions> }): Shown {
  if ('error' in known) return html`<${Unknown} error=${known.error} />`;
  if (known.filters.length === 0) return html`<${Empty}>No Filter logs users in.<//>`;
  return html`${known.filters.map(each => html`<${OfFilter} key=${each.filter} ...${each} />`)}
    <p class="muted body">${known.store === 'redis' ? 'These are the sessions of all replicas of ext-authz.' : 'These are the sessions in the file of one ext-authz.'}</p>`;
}

function OfFilter({ count: total, filter, more, sessions }: FilterSessions): Shown {
  const rows = sessions.map(session => ({ ...session, filter }));
  return html`<h3 class="body">${filter} <span class="muted">${more ? 'more than ' : ''}${counted(total, 'session')}${total > rows.length ? `, of which ${count(rows.length)} are shown` : ''}</span></h3>
    ${rows.length === 0 ? null : html`<${Table} caption="Sessions of ${filter}" columns=${SESSIONS} rows=${rows} keyOf=${(row: Row) => `${row.user} ${row.begun} ${row.ends}`} />`}`;
}

type Row = ListedSession & { readonly filter: string };

const SESSIONS: readonly Column<Row>[] = [
  { head: 'User', className: 'path', cell: ({ name }) => html`<b>${name}</b>` },
  { head: 'sub', className: 'path', cell: ({ user }) => user },
  { head: 'Begun', cell: ({ begun }) => `${ago(begun, serverNow())} ago` },
  { head: 'Last seen', cell: ({ seen }) => `${ago(seen, serverNow())} ago` },
  {
    head: 'All of this user',
    cell: ({ filter, name, user }) =>
      html`<${ActForm} action="end-sessions" button="End" read=${() => ({ filter, user })}
        ask="End all sessions of ${name}?" />`,
  },
];
