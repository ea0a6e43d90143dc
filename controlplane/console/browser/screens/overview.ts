import type { OverviewScreen } from '#controlplane/console/views/overview.ts';
import type { Change } from '#controlplane/status/change-history.ts';
import { ago, clock, count, counted, ms, percent, rate, shortName } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { serverNow, useView } from '../live.ts';
import { to } from '../location.ts';
import { Badge, type Column, Empty, Loaded, Panel, Stat, Table } from '../parts.ts';
import { ProblemLines } from '../problem-lines.ts';
import { TrafficCharts } from '../traffic-charts.ts';

/** Ready or not and why, what is wrong, what goes on, what has changed. */
export function Overview(): Shown {
  const view = useView<OverviewScreen>('overview');
  return html`<div class="head"><h1>Overview</h1></div>
    <${Loaded} view=${view} show=${(data: OverviewScreen) => html`<${Shows} ...${data} />`} />`;
}

function Shows(data: OverviewScreen): Shown {
  const { busiest, changes, errors, note, problems, ready, reason, traffic, warnings } = data;
  const all = errors + warnings;
  return html`
    ${ready ? null : html`<p class="notice bad" role="alert">Not ready: ${reason}</p>`}
    <${Stats} ...${data} />
    <div class="panels">
      <${TrafficCharts} traffic=${traffic} />
      ${note === undefined ? null : html`<p class="muted" style="grid-column: 1 / -1; margin: 0">${note}</p>`}
      <${Panel} title="Problems" aside=${all > problems.length ? `the first ${problems.length} of ${count(all)}` : undefined}>
        ${all === 0 ? html`<${Empty}>There are none.<//>` : html`<${ProblemLines} problems=${problems} />`}
      <//>
      <${Panel} title="Latest changes">
        ${
          changes.length === 0
            ? html`<${Empty}>None since the control plane started.<//>`
            : html`<ul class="lines">${changes.map(change => html`<${ChangeLine} key=${change.at} isLatest=${change === changes[0]} ...${change} />`)}</ul>`
        }
      <//>
      ${
        busiest.length === 0
          ? null
          : html`<${Panel} title="Routes with failures and traffic" aside=${html`<a href=${to('routes', { sort: 'rate' })}>All routes</a>`} wide=${true}>
        <${Table} caption="Routes of the last 15 minutes" columns=${BUSY} rows=${busiest} keyOf=${({ id }: Busy) => id} />
      <//>`
      }
    </div>`;
}

function Stats({ errors, proxies, ready, resources, traffic, warnings }: OverviewScreen): Shown {
  const trouble = proxies.behind + proxies.rejecting;
  const words = [
    ...(proxies.rejecting > 0 ? [`${proxies.rejecting} rejecting`] : []),
    ...(proxies.behind > 0 ? [`${proxies.behind} behind`] : []),
  ];
  const { clientErrors, rate: perSecond, requests, serverErrors } = traffic.lastMinute;
  return html`<div class="stats">
    <${Stat} label="Control plane" value=${ready ? 'Ready' : 'Not ready'} tone=${ready ? 'ok' : 'bad'} note=${counted(resources, 'resource')} />
    <${Stat} label="Problems" value=${count(errors + warnings)} tone=${errors > 0 ? 'bad' : warnings > 0 ? 'warn' : 'ok'} note=${`${counted(errors, 'error')}, ${counted(warnings, 'warning')}`} />
    <${Stat} label="Proxies and services" value=${count(trouble + proxies['in sync'])} tone=${proxies.rejecting > 0 ? 'bad' : trouble > 0 ? 'warn' : 'ok'}
      href=${to('proxies')} note=${words.length > 0 ? words.join(', ') : 'all in sync'} />
    ${
      traffic.on
        ? html`<${Stat} label="Requests a second" value=${rate(perSecond)} href=${to('traffic')} note="last minute" />
        <${Stat} label="Answered 5xx" value=${percent(serverErrors, requests)} tone=${serverErrors > 0 ? 'bad' : 'plain'} href=${to('traffic', { status: '5' })} note=${counted(Math.round(serverErrors), 'request')} />
        <${Stat} label="Answered 4xx" value=${percent(clientErrors, requests)} href=${to('traffic', { status: '4' })} note=${counted(Math.round(clientErrors), 'request')} />`
        : null
    }
  </div>`;
}

type Busy = OverviewScreen['busiest'][number];

const BUSY: readonly Column<Busy>[] = [
  { head: 'Route', cell: ({ id }) => html`<a href=${to('route', { id })}>${shortName(id)}</a>` },
  { head: 'Requests a second', number: true, cell: ({ lastMinute }) => rate(lastMinute.rate) },
  { head: '15 minutes', number: true, cell: ({ last15Minutes }) => count(last15Minutes.requests) },
  {
    head: '5xx',
    number: true,
    cell: ({ last15Minutes: { requests, serverErrors } }) =>
      serverErrors > 0 ? html`<${Badge} tone="bad">${percent(serverErrors, requests)}<//>` : '0 %',
  },
  {
    head: '4xx',
    number: true,
    cell: ({ last15Minutes: { clientErrors, requests } }) => percent(clientErrors, requests),
  },
  { head: 'p50', number: true, cell: ({ last15Minutes }) => ms(last15Minutes.p50) },
  { head: 'p99', number: true, cell: ({ last15Minutes }) => ms(last15Minutes.p99) },
];

function ChangeLine({
  isLatest,
  ackCount,
  acks,
  added,
  at,
  changed,
  count: total,
  nacks,
  removed,
}: Change & { readonly isLatest: boolean }): Shown {
  const slowest = Math.max(0, ...acks.map(ack => ack.ms));
  const parts = [
    ...named('added', added),
    ...named('changed', changed),
    ...named('removed', removed),
  ];
  const more = total - added.length - changed.length - removed.length;
  return html`<li>
    <div class="row"><span class="muted" title=${new Date(at).toISOString()}>${clock(at)}</span>
      ${
        nacks.length > 0
          ? html`<${Badge} tone="bad">rejected by ${nacks.map(({ node }) => node).join(', ')}<//>`
          : ackCount === 0
            ? html`<${Badge} tone="quiet">${isLatest ? 'no ACK yet' : 'ACKed with the next one'}<//>`
            : html`<${Badge} tone="ok">ACKed by ${count(ackCount)} in ${ms(slowest)}<//>`
      }
      <span class="muted">${ago(at, serverNow())} ago</span></div>
    <div class="wrap">${parts.join(' · ')}${more > 0 ? ` · and ${count(more)} more` : ''}</div>
    ${acks.length === 0 ? null : html`<div class="muted wrap">${acks.map(ack => `${ack.node} ${ms(ack.ms)}`).join(' · ')}</div>`}
    ${nacks.map(({ message, node }) => html`<p class="wrap"><b>${node}</b> ${message}</p>`)}
  </li>`;
}

function named(what: string, ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return [];
  const names = ids.slice(0, 4).map(id => `${id.split('/')[0]} ${shortName(id)}`);
  return [`${what} ${names.join(', ')}${ids.length > 4 ? ` and ${ids.length - 4} more` : ''}`];
}
