import type { Overview as OverviewView } from '#controlplane/console/views/overview.ts';
import type { Change } from '#controlplane/status/change-history.ts';
import { ago, clock, count, counted, ms, shortName } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { useView } from '../live.ts';
import { to } from '../location.ts';
import { Badge, Empty, Loaded, Panel, Stat } from '../parts.ts';
import { ProblemLines } from '../problem-lines.ts';

/** Ready or not and why, what is wrong, what goes on, what has changed. */
export function Overview(): Shown {
  const view = useView<OverviewView>('overview');
  return html`<div class="head"><h1>Overview</h1></div>
    <${Loaded} view=${view} show=${(data: OverviewView) => html`<${Shows} ...${data} />`} />`;
}

function Shows(data: OverviewView): Shown {
  const { changes, errors, problems, proxies, ready, reason, resources, warnings } = data;
  const trouble = proxies.behind + proxies.rejecting;
  const total = trouble + proxies['in sync'];
  const troubles = [
    ...(proxies.rejecting > 0 ? [`${proxies.rejecting} rejecting`] : []),
    ...(proxies.behind > 0 ? [`${proxies.behind} behind`] : []),
  ];
  return html`
    ${ready ? null : html`<p class="notice bad" role="alert">Not ready: ${reason}</p>`}
    <div class="stats">
      <${Stat} label="Control plane" value=${ready ? 'Ready' : 'Not ready'} tone=${ready ? 'ok' : 'bad'}
        note=${`${counted(resources, 'resource')}`} />
      <${Stat} label="Errors" value=${count(errors)} tone=${errors > 0 ? 'bad' : 'plain'} href="#problems" note="Problems that leave something out" />
      <${Stat} label="Warnings" value=${count(warnings)} tone=${warnings > 0 ? 'warn' : 'plain'} href="#problems" note="Problems that are served" />
      <${Stat} label="Proxies and services" value=${count(total)} tone=${proxies.rejecting > 0 ? 'bad' : trouble > 0 ? 'warn' : 'ok'}
        href=${to('proxies')} note=${troubles.length > 0 ? troubles.join(', ') : 'all in sync'} />
    </div>
    <div class="panels">
      <${Panel} title="Problems" aside=${errors + warnings > problems.length ? `the first ${problems.length} of ${count(errors + warnings)}` : undefined}>
        <span id="problems"></span>
        ${problems.length === 0 ? html`<${Empty}>There are none.<//>` : html`<${ProblemLines} problems=${problems} />`}
      <//>
      <${Panel} title="Latest changes">
        ${
          changes.length === 0
            ? html`<${Empty}>None since the control plane started.<//>`
            : html`<ul class="lines">${changes.map(change => html`<${ChangeLine} key=${change.at} ...${change} />`)}</ul>`
        }
      <//>
    </div>`;
}

function ChangeLine({
  ackCount,
  acks,
  added,
  at,
  changed,
  count: total,
  nacks,
  removed,
}: Change): Shown {
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
            ? html`<${Badge} tone="quiet">no ACK needed yet<//>`
            : html`<${Badge} tone="ok">ACKed by ${count(ackCount)} in ${ms(slowest)}<//>`
      }
      <span class="muted">${ago(at, Date.now())} ago</span></div>
    <div class="wrap">${parts.join(' · ')}${more > 0 ? ` · and ${count(more)} more` : ''}</div>
    ${
      acks.length === 0
        ? null
        : html`<details><summary class="muted">Who ACKed</summary><p class="muted wrap">${acks
            .map(ack => `${ack.node} ${ms(ack.ms)}`)
            .join(', ')}</p></details>`
    }
    ${nacks.map(({ message, node }) => html`<p class="wrap"><b>${node}</b> ${message}</p>`)}
  </li>`;
}

function named(what: string, ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return [];
  const names = ids.slice(0, 4).map(id => `${id.split('/')[0]} ${shortName(id)}`);
  return [`${what} ${names.join(', ')}${ids.length > 4 ? ` and ${ids.length - 4} more` : ''}`];
}
