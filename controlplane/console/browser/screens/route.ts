import { useState } from 'preact/hooks';
import type { AttachedView, RuleView } from '#controlplane/console/views/gateway-routes.ts';
import type { AbsentRoute, RouteScreen } from '#controlplane/console/views/route.ts';
import type { RouteRow } from '#controlplane/console/views/route-row.ts';
import { plainMethod } from '../curl-line.ts';
import { count, ms, percent, rate, shortName } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { useView } from '../live.ts';
import { to } from '../location.ts';
import { Badge, Loaded, Panel, Source, Stat } from '../parts.ts';
import { ProblemLines } from '../problem-lines.ts';
import { RequestTable } from '../request-table.ts';
import { TrafficCharts } from '../traffic-charts.ts';
import { UpstreamLines } from '../upstream-lines.ts';
import { Covered, END, hostText, pathText, State, shortFilter } from './routes.ts';

/** One route: what decides about it, what it became, what goes through it. */
export function Route({ query }: { readonly query: URLSearchParams }): Shown {
  const id = query.get('id') ?? '';
  const view = useView<RouteScreen | AbsentRoute>(`route?${new URLSearchParams({ id })}`);
  return html`<div class="head"><h1 class="wrap">${shortName(id)}</h1><span class="crumb"><a href=${to('routes')}>Routes</a></span></div>
    <${Loaded} view=${view} show=${(data: RouteScreen | AbsentRoute) => html`<${data.row === undefined ? Absent : Shows} ...${data} />`} />`;
}

function Absent({ problems, requests }: AbsentRoute): Shown {
  return html`<p class="notice warn">No route of this name is in force.</p>
    <div class="panels">
      ${problems.length === 0 ? null : html`<${Panel} title="Problems" wide=${true}><${ProblemLines} problems=${problems} /><//>`}
      ${requests.length === 0 ? null : html`<${Panel} title="Sampled requests" wide=${true}><${RequestTable} requests=${requests} withRoute=${false} /><//>`}
    </div>`;
}

function Shows({
  attached,
  figures,
  limits,
  parents,
  problems,
  requests,
  row,
  rules,
  served,
  sharing,
  traffic,
  upstreams,
  wider,
  within,
  yaml,
}: RouteScreen): Shown {
  return html`${
    figures === undefined
      ? null
      : html`<div class="stats">
      <${Stat} label="Requests a second" value=${rate(figures.lastMinute.rate)} note="last minute" />
      <${Stat} label="Requests" value=${count(figures.last15Minutes.requests)} note="15 minutes" />
      <${Stat} label="Answered 5xx" value=${percent(figures.last15Minutes.serverErrors, figures.last15Minutes.requests)} tone=${figures.last15Minutes.serverErrors > 0 ? 'bad' : 'plain'} href=${to('traffic', { route: row.id, status: '5' })} note="15 minutes" />
      <${Stat} label="p50 and p99" value=${`${ms(figures.last15Minutes.p50)}`} note=${`p99 ${ms(figures.last15Minutes.p99)}`} />
      <${Stat} label="Answered by the gateway" value=${count(Math.round(figures.answeredByGateway))} note="logins, limits, closed" />
    </div>`
  }
  <div class="panels">
    <${Panel} title="Route" aside=${html`<${Source} ...${row} />`}>
      <dl class="facts">
        <dt>State</dt><dd><${State} ...${row} /></dd>
        ${
          isMapping(row)
            ? html`<dt>Requests</dt><dd class="path">${row.paths[0]?.method ?? 'any method'} ${row.hosts[0] === '*' ? 'any host' : row.hosts[0]} ${row.paths.map(({ path, type }) => `${path}${END[type]}`)}</dd>`
            : html`<dt>Hosts</dt><dd class="path">${row.hosts.map(host => html`<div>${hostText(host)}</div>`)}</dd>
        <dt>Attached to</dt><dd><${Attached} attached=${attached} parents=${parents} /></dd>`
        }
        <dt>${row.services.length === 1 ? 'Service' : 'Services'}</dt><dd class="path">${row.services.length === 0 ? html`<span class="muted">none</span>` : row.services.map(name => html`<div><a href=${to('service', { name })}>${name}</a></div>`)}</dd>
        <dt>Filters</dt><dd><${Covered} ...${row} /></dd>
        <dt>Limits</dt><dd>${limits.length === 0 ? html`<span class="muted">none apply</span>` : limits.map(limit => html`<div>${limit.name}: ${count(limit.rate)} a ${limit.unit}${limit.action === 'LogOnly' ? html` <${Badge} tone="quiet">LogOnly<//>` : null} <${Source} ...${limit} /></div>`)}</dd>
        ${sharing.length === 0 ? null : html`<dt>Shares</dt><dd>${sharing.map(other => html`<div>${Math.round(other.share ?? 0)} % ${other.id === row.id ? html`<b>${shortName(other.id)}</b>` : link(other)} → ${other.services}</div>`)}</dd>`}
        ${isMapping(row) || row.paths.length > 0 ? html`<dt>Ask</dt><dd><a href=${to('explain', { url: exampleOf(row), method: plainMethod(row.paths), group: row.nodeGroup })}>Explain a request to it</a></dd>` : null}
      </dl>
    <//>
    ${problems.length === 0 ? null : html`<${Panel} title="Problems"><${ProblemLines} problems=${problems} /><//>`}
    ${served.length === 0 ? null : html`<${Panel} title="Rules" aside="as they are written"><${Rules} rules=${served} /><//>`}
    ${upstreams.length === 0 ? null : html`<${Panel} title="Service" aside="as the proxies see it"><${UpstreamLines} upstreams=${upstreams} /><//>`}
    ${
      rules.length === 0
        ? null
        : html`<${Panel} title="Rules of FilterPolicies" aside="in the order in which they are tried"><ul class="lines">${rules.map(
            rule =>
              html`<li><div class="row"><code>${rule.host === '*' ? '' : rule.host}${rule.path}</code> ${rule.filters.length === 0 ? html`<${Badge} tone="quiet">open<//>` : rule.filters.map(shortFilter).join(', ')}</div><div class="muted wrap">${rule.text} <${Source} ...${rule} /></div></li>`,
          )}</ul><//>`
    }
    ${
      wider.length + within.length === 0
        ? null
        : html`<${Panel} title="Overlaps" aside="the longer path is tried first"><ul class="lines">
      ${within.map(other => html`<li><span>${link(other)} takes <code>${pathsOf(other)}</code> out of it</span></li>`)}
      ${wider.map(other => html`<li><span>${link(other)} with <code>${pathsOf(other)}</code> gets what this one leaves</span></li>`)}
    </ul><//>`
    }
    ${traffic.series.requests.length < 2 ? null : html`<${TrafficCharts} traffic=${traffic} />`}
    ${!traffic.on ? null : html`<${Panel} title="Sampled requests" aside=${html`<a href=${to('traffic', { route: row.id })}>Live</a>`} wide=${true}><${RequestTable} requests=${requests} withRoute=${false} /><//>`}
    ${yaml === undefined ? null : html`<${Panel} title="As it is written" aside=${html`<${Source} ...${row} />`}><pre tabindex="0">${yaml}</pre><//>`}
    <${Panel} title="What Envoy gets"><${Configuration} id=${row.id} /><//>
  </div>`;
}

function Configuration({ id }: { readonly id: string }): Shown {
  const [isOpen, open] = useState(false);
  return isOpen
    ? html`<${Compiled} id=${id} />`
    : html`<div class="body"><button onClick=${() => open(true)}>Show configuration</button></div>`;
}

function Compiled({ id }: { readonly id: string }): Shown {
  const view = useView<{ readonly yaml: string }>(`configuration?${new URLSearchParams({ id })}`);
  return html`<${Loaded} view=${view} show=${({ yaml }: { readonly yaml: string }) => html`<pre tabindex="0">${yaml}</pre>`} />`;
}

function link({ id }: RouteRow): Shown {
  return html`<a href=${to('route', { id })}>${shortName(id)}</a>`;
}

function isMapping({ id }: RouteRow): boolean {
  return id.startsWith('Mapping/');
}

const MOST_PATHS = 3;

function pathsOf({ paths }: RouteRow): string {
  const more = paths.length > MOST_PATHS ? ' …' : '';
  return `${paths.slice(0, MOST_PATHS).map(pathText).join(', ')}${more}`;
}

/** The listeners that serve a route of Gateways, and why others do not. */
function Attached({
  attached,
  parents,
}: {
  readonly attached: readonly AttachedView[];
  readonly parents: readonly string[];
}): Shown {
  return html`${attached.length === 0 ? html`<${Badge} tone="bad">no listener serves it<//>` : null}
    ${attached.map(({ gateway, hosts, id, port, protocol }) => html`<div><a href=${to('gateways', { search: gateway })}>${shortName(gateway)}</a> ${id.split('/').pop()} <span class="muted">${protocol} ${port}, ${hosts.length === 1 && hosts[0] === '*' ? 'any host' : hosts.join(', ')}</span></div>`)}
    ${parents.map(text => html`<div class="wrap">${text}</div>`)}`;
}

/** What is matched, and where its requests go. */
function Rules({ rules }: { readonly rules: readonly RuleView[] }): Shown {
  return html`<ul class="lines">${rules.map(
    ({ backends, broken, filters, paths, redirects }) => html`<li>
      ${paths.map(each => html`<div><code>${pathText(each)}${END[each.type]}</code> <span class="muted">${each.conditions?.join(', ')}</span></div>`)}
      ${filters.length === 0 ? null : html`<div><span class="muted">Filters</span> ${filters.map(shortFilter).join(', ')}</div>`}
      ${redirects ? html`<div class="muted">redirects</div>` : null}
      ${broken === undefined ? null : html`<div class="wrap"><${Badge} tone="bad">answers 500<//> ${broken}</div>`}
      ${backends.map(({ service, share }) => html`<div>${Math.round(share)} % → ${service === undefined ? html`<${Badge} tone="bad">answers 500<//>` : html`<a href=${to('service', { name: service })}>${service}</a>`}</div>`)}
    </li>`,
  )}</ul>`;
}

/** A route of a Gateway has the port of its listener. */
function exampleOf({
  hosts: [host = '*'],
  listeners: [listener],
  paths: [first],
}: RouteRow): string {
  const name = host === '*' || host.startsWith('~') ? '127.0.0.1' : host.replace(/^\*/, 'www');
  const path = first?.path.startsWith('/') ? first.path : '/';
  if (listener === undefined) return `http://${name}${path}`;
  return `${listener.protocol === 'HTTPS' ? 'https' : 'http'}://${name}:${listener.port}${path}`;
}
