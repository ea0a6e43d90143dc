import type { InstanceRow, InstanceRows } from '#controlplane/console/views/instances.ts';
import type { RouteRow } from '#controlplane/console/views/route-row.ts';
import type { ServiceScreen } from '#controlplane/console/views/services.ts';
import { curlLine } from '../curl-line.ts';
import { addressText, Drain } from '../drain.ts';
import { count, shortName } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { useView } from '../live.ts';
import { to } from '../location.ts';
import { Badge, Empty, Loaded, Panel, Source } from '../parts.ts';
import { RequestTable } from '../request-table.ts';
import { UpstreamLines } from '../upstream-lines.ts';
import { Covered, pathText } from './routes.ts';

/** A page for the developer of one service. */
export function Service({ query }: { readonly query: URLSearchParams }): Shown {
  const name = query.get('name') ?? '';
  const view = useView<ServiceScreen>(`service?${new URLSearchParams({ name })}`);
  return html`<div class="head"><h1 class="wrap">${name}</h1><span class="crumb"><a href=${to('services')}>Services</a></span></div>
    <${Loaded} view=${view} show=${(data: ServiceScreen) => html`<${Shows} ...${data} />`} />`;
}

function Shows({
  edge,
  instances,
  limits,
  requests,
  routes,
  row,
  undiscovered,
  upstreams,
}: ServiceScreen): Shown {
  return html`<div class="panels">
    <${Panel} title="Health" aside="as the proxies see it">
      ${upstreams.length === 0 ? html`<${Empty}>No proxy has told anything of it.<//>` : html`<${UpstreamLines} upstreams=${upstreams} />`}
    <//>
    <${Panel} title="Instances" aside=${instances.total > instances.rows.length ? `the first ${instances.rows.length} of ${count(instances.total)}` : undefined}>
      ${undiscovered === undefined ? null : html`<p class="notice bad">The discovery service cannot be asked. ${undiscovered}</p>`}
      <${Instances} ...${instances} /><//>
    <${Panel} title="Limits">
      ${
        limits.length === 0
          ? html`<${Empty}>No limit applies to its routes.<//>`
          : html`<ul class="lines">${limits.map(
              ({ action, file, line, name, rate, unit }) =>
                html`<li><div class="row">${name}: ${count(rate)} a ${unit} ${action === 'LogOnly' ? html`<${Badge} tone="quiet">LogOnly<//>` : null} <${Source} file=${file} line=${line} /></div></li>`,
            )}</ul>`
      }
    <//>
    <${Panel} title="Routes" aside=${row.routes > routes.length ? `the first ${routes.length} of ${count(row.routes)}` : undefined}>
      <ul class="lines">${routes.map(
        route =>
          html`<li><div class="row"><a class="path" href=${to('route', { id: route.id })}>${routeName(route)}</a> <${Covered} ...${route} /> <${Source} file=${route.file} line=${route.line} /></div></li>`,
      )}</ul>
    <//>
    <${Panel} title="Try it"><pre tabindex="0">${routes
      .filter(({ paths }) => paths[0] !== undefined && paths[0].type !== 'regex')
      .slice(0, 6)
      .map(route => curlLine(route, edge))
      .join('\n')}</pre><//>
    <${Panel} title="Last requests" aside="sampled, the newest first" wide=${true}><${RequestTable} requests=${requests} /><//>
  </div>`;
}

function routeName(row: RouteRow): string {
  const [first] = row.paths;
  const [host] = row.hosts;
  return first === undefined ? shortName(row.id) : `${host === '*' ? '' : host}${pathText(first)}`;
}

function Instances({ rows }: InstanceRows): Shown {
  if (rows.length === 0)
    return html`<${Empty}>Discovery knows none, and no request was sampled in the last 15 minutes.<//>`;
  return html`<ul class="lines">${rows.map(
    instance => html`<li key=${addressText(instance)}>
    <div class="row"><code>${addressText(instance)}</code> <${StateOf} ...${instance} />
      <span class="muted">${instance.requests === 0 ? 'idle' : `${count(instance.requests)} sampled`}</span>
      ${instance.failed === 0 ? null : html`<${Badge} tone="bad">${count(instance.failed)} failed<//>`}
      ${instance.discovered || instance.drained ? html`<${Drain} ...${instance} />` : html`<span class="muted">not from discovery</span>`}
    </div>
    ${instance.failure === undefined ? null : html`<div class="wrap muted">${instance.failure}</div>`}
  </li>`,
  )}</ul>`;
}

function StateOf({ drained, healthy = true }: InstanceRow): Shown {
  if (drained) return html`<${Badge} tone="warn">drained<//>`;
  return healthy ? null : html`<${Badge} tone="bad">unhealthy<//>`;
}
