import type { InstanceRow } from '#controlplane/console/views/instances.ts';
import type { ServiceScreen } from '#controlplane/console/views/services.ts';
import { ActForm } from '../act.ts';
import { count } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { useView } from '../live.ts';
import { to } from '../location.ts';
import { Badge, Empty, Loaded, Panel, Source } from '../parts.ts';
import { RequestTable } from '../request-table.ts';
import { UpstreamLines } from '../upstream-lines.ts';
import { Covered } from './routes.ts';

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
  upstreams,
}: ServiceScreen): Shown {
  return html`<div class="panels">
    <${Panel} title="Health" aside="as the proxies see it">
      ${upstreams.length === 0 ? html`<${Empty}>No proxy has told anything of it.<//>` : html`<${UpstreamLines} upstreams=${upstreams} />`}
    <//>
    <${Panel} title="Instances" aside="by the sampled requests"><${Instances} instances=${instances} /><//>
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
          html`<li><div class="row"><a class="path" href=${to('route', { id: route.id })}>${route.host === '*' ? '' : route.host}${route.path}</a> <${Covered} ...${route} /> <${Source} file=${route.file} line=${route.line} /></div></li>`,
      )}</ul>
    <//>
    <${Panel} title="Try it"><pre tabindex="0">${routes
      .filter(({ matches }) => matches !== 'regex')
      .slice(0, 6)
      .map(({ host, method, path }) => curl(`${edge.host}:${edge.port}`, host, path, method))
      .join('\n')}</pre><//>
    <${Panel} title="Last requests" aside="sampled, the newest first" wide=${true}><${RequestTable} requests=${requests} /><//>
  </div>`;
}

function curl(edge: string, host: string, path: string, method?: string): string {
  const verb = method === undefined || method === 'GET' ? '' : `-X ${method} `;
  const name = host === '*' ? '' : `-H 'Host: ${host.replace(/^\*/, 'www')}' `;
  return `curl ${verb}${name}http://${edge}${path}`;
}

/** A drained instance gets no new requests, and ends those that it has. */
function Instances({ instances }: Pick<ServiceScreen, 'instances'>): Shown {
  if (instances.length === 0)
    return html`<${Empty}>No request was sampled in the last 15 minutes.<//>`;
  return html`<ul class="lines">${instances.map(
    instance => html`<li key=${nameOf(instance)}>
    <div class="row"><code>${nameOf(instance)}</code>
      ${instance.drained ? html`<${Badge} tone="warn">drained<//>` : null}
      <span class="muted">${count(instance.requests)} sampled</span>
      ${instance.failed === 0 ? null : html`<${Badge} tone="bad">${count(instance.failed)} failed<//>`}
      <${ActForm} key=${instance.drained} action="drain" button=${instance.drained ? 'Serve again' : 'Drain'}
        read=${() => ({ address: instance.address, port: instance.port, drained: !instance.drained })}
        ask=${instance.drained ? `Send requests to ${nameOf(instance)} again?` : `Send no new requests to ${nameOf(instance)}?`}
        done="Ordered." />
    </div>
    ${instance.failure === undefined ? null : html`<div class="wrap muted">${instance.failure}</div>`}
  </li>`,
  )}</ul>`;
}

function nameOf({ address, port }: InstanceRow): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
