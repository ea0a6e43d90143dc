import { useState } from 'preact/hooks';
import type { RouteScreen } from '#controlplane/console/views/route.ts';
import type { RouteRow } from '#controlplane/console/views/routes.ts';
import { count, ms, percent, rate, shortName } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { useView } from '../live.ts';
import { to } from '../location.ts';
import { Badge, Loaded, Panel, Source, Stat } from '../parts.ts';
import { ProblemLines } from '../problem-lines.ts';
import { RequestTable } from '../request-table.ts';
import { TrafficCharts } from '../traffic-charts.ts';
import { UpstreamLines } from '../upstream-lines.ts';
import { Covered, State } from './routes.ts';

/** One route: what decides about it, what it became, what goes through it. */
export function Route({ query }: { readonly query: URLSearchParams }): Shown {
  const id = query.get('id') ?? '';
  const view = useView<RouteScreen>(`route?${new URLSearchParams({ id })}`);
  return html`<div class="head"><h1 class="wrap">${shortName(id)}</h1><span class="crumb"><a href=${to('routes')}>Routes</a></span></div>
    <${Loaded} view=${view} show=${(data: RouteScreen) => html`<${Shows} ...${data} />`} />`;
}

function Shows({
  figures,
  limits,
  problems,
  requests,
  row,
  rules,
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
        <dt>Requests</dt><dd class="path">${row.method ?? 'any method'} ${row.host === '*' ? 'any host' : row.host} ${row.path}${row.matches === 'prefix' ? '*' : ''}</dd>
        <dt>Service</dt><dd class="path"><a href=${to('service', { name: row.service })}>${row.service}</a></dd>
        <dt>Filters</dt><dd><${Covered} ...${row} /></dd>
        <dt>Limits</dt><dd>${limits.length === 0 ? html`<span class="muted">none apply</span>` : limits.map(limit => html`<div>${limit.name}: ${count(limit.rate)} a ${limit.unit}${limit.action === 'LogOnly' ? html` <${Badge} tone="quiet">LogOnly<//>` : null} <${Source} ...${limit} /></div>`)}</dd>
        ${sharing.length === 0 ? null : html`<dt>Shares</dt><dd>${sharing.map(other => html`<div>${Math.round(other.share ?? 0)} % ${other.id === row.id ? html`<b>${shortName(other.id)}</b>` : link(other)} → ${other.service}</div>`)}</dd>`}
        <dt>Ask</dt><dd><a href=${to('explain', { url: exampleOf(row), method: plainMethod(row), group: row.nodeGroup })}>Explain a request to it</a></dd>
      </dl>
    <//>
    ${problems.length === 0 ? null : html`<${Panel} title="Problems"><${ProblemLines} problems=${problems} /><//>`}
    ${upstreams.length === 0 ? null : html`<${Panel} title="Service" aside="as the proxies see it"><${UpstreamLines} upstreams=${upstreams} /><//>`}
    ${
      rules.length === 0
        ? null
        : html`<${Panel} title="Rules of FilterPolicies" aside="in the order in which they are tried"><ul class="lines">${rules.map(
            rule =>
              html`<li><div class="row"><code>${rule.host === '*' ? '' : rule.host}${rule.path}</code> ${rule.filters.length === 0 ? html`<${Badge} tone="quiet">open<//>` : rule.filters.map(shortOf).join(', ')}</div><div class="muted wrap">${rule.text} <${Source} ...${rule} /></div></li>`,
          )}</ul><//>`
    }
    ${
      wider.length + within.length === 0
        ? null
        : html`<${Panel} title="Overlaps" aside="the longer path is tried first"><ul class="lines">
      ${within.map(other => html`<li><span>${link(other)} takes <code>${other.path}</code> out of it</span></li>`)}
      ${wider.map(other => html`<li><span>${link(other)} with <code>${other.path}</code> gets what this one leaves</span></li>`)}
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

function shortOf(name: string): string {
  return name.replace(/^default\//, '');
}

function exampleOf({ host, path }: RouteRow): string {
  const name = host === '*' || host.startsWith('~') ? '127.0.0.1' : host.replace(/^\*/, 'www');
  return `http://${name}${path.startsWith('/') ? path : '/'}`;
}

function plainMethod({ method = 'GET' }: RouteRow): string {
  return /^[A-Z]+$/.test(method) ? method : 'GET';
}
