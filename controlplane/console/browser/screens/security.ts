import type { FilterRow, Security as SecurityView } from '#controlplane/console/views/security.ts';
import { ActForm } from '../act.ts';
import { count, isRoute, shortName } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { useView } from '../live.ts';
import { to } from '../location.ts';
import { Logins } from '../logins.ts';
import { Badge, type Column, Empty, Loaded, Panel, Source, Stat, Table } from '../parts.ts';
import { ProblemLines } from '../problem-lines.ts';
import { RequestTable } from '../request-table.ts';

/** Filters and their providers, what is closed, what is open, what was rejected. */
export function Security(): Shown {
  const view = useView<SecurityView>('security');
  return html`<div class="head"><h1>Security</h1></div>
    <${Loaded} view=${view} show=${(data: SecurityView) => html`<${Shows} ...${data} />`} />`;
}

function Shows({ closed, filters, open, rejected }: SecurityView): Shown {
  const problems = filters.flatMap(filter => filter.problems);
  return html`<div class="stats">
      <${Stat} label="Filters" value=${count(filters.length)} />
      <${Stat} label="Open routes" value=${count(open.none)} href=${to('routes', { search: 'open' })} note="no Filter decides" />
      <${Stat} label="Partly open" value=${count(open.part)} tone=${open.part > 0 ? 'warn' : 'plain'} href=${to('routes', { search: 'part' })} note="some requests may pass" />
      <${Stat} label="Bypassed" value=${count(open.bypass)} tone=${open.bypass > 0 ? 'warn' : 'plain'} href=${to('routes', { search: 'bypass' })} note="by bypass_auth" />
      <${Stat} label="Closed" value=${count(closed.length)} tone=${closed.length > 0 ? 'bad' : 'ok'} note="answered 500" />
    </div>
    <div class="panels">
      <${Panel} title="Filters and providers" wide=${true}>
        ${filters.length === 0 ? html`<${Empty}>There is no Filter.<//>` : html`<${Table} caption="Filters" columns=${COLUMNS} rows=${filters} keyOf=${({ id }: FilterRow) => id} />`}
      <//>
      <${Logins} />
      ${problems.length === 0 ? null : html`<${Panel} title="Problems of Filters"><${ProblemLines} problems=${problems} /><//>`}
      <${Panel} title="End the sessions of a user"><div class="body"><${EndSessions} filters=${filters} /></div><//>
      <${Panel} title="Closed and out of service">
        ${
          closed.length === 0
            ? html`<${Empty}>Nothing is closed.<//>`
            : html`<ul class="lines">${closed.map(
                ({ file, id, line, state }) =>
                  html`<li><div class="row"><${Badge} tone="bad">${state}<//> ${isRoute(id) ? html`<a href=${to('route', { id })}>${shortName(id)}</a>` : `${id.split('/')[0]} ${shortName(id)}`} <${Source} file=${file} line=${line} /></div></li>`,
              )}</ul>`
        }
      <//>
      <${Panel} title="Rejected by Filters" aside="sampled, the newest first" wide=${true}><${RequestTable} requests=${rejected} /><//>
    </div>`;
}

const COLUMNS: readonly Column<FilterRow>[] = [
  { head: 'Filter', cell: ({ id }) => html`<b>${shortName(id)}</b>` },
  { head: 'Type', cell: typeText },
  { head: 'Provider', className: 'path', cell: ({ issuer }) => issuer },
  {
    head: 'State',
    className: 'tight',
    cell: ({ problems, state }) =>
      html`<${Badge} tone=${state === 'in force' ? 'ok' : 'bad'}>${state}<//>${problems.length === 0 ? null : html` <${Badge} tone="warn">${problems.length} Problems<//>`}`,
  },
  {
    head: 'Routes',
    cell: ({ id }) =>
      html`<a href=${to('routes', { search: id.slice('Filter/'.length) })}>its routes</a>`,
  },
  { head: 'Written in', cell: row => html`<${Source} ...${row} />` },
];

function typeText({ repeatsMs, type }: FilterRow): string {
  return repeatsMs === undefined ? type : `${type}, decisions repeated for ${repeatsMs} ms`;
}

/** The user logs in again at the next request. */
function EndSessions({ filters }: Pick<SecurityView, 'filters'>): Shown {
  const logins = filters.filter(({ type }) => type === 'OAuth2 AuthorizationCode');
  if (logins.length === 0) return html`<p class="muted">No Filter logs users in.</p>`;
  return html`<${ActForm} action="end-sessions" button="End sessions" read=${(fields: object) => fields}
      ask="End all sessions of this user?">
    <label class="field">Filter<select name="filter">${logins.map(({ id }) => html`<option>${id.slice('Filter/'.length)}</option>`)}</select></label>
    <label class="field grow">User, the claim sub<input name="user" required maxlength="1000" spellcheck=${false} /></label>
  <//>`;
}
