import type { UpstreamFigures } from '#controlplane/figures/figures.ts';
import { ago, count } from './format.ts';
import { html, type Shown } from './html.ts';
import { serverNow } from './live.ts';
import { Badge } from './parts.ts';

/** What the proxies see of a service: its members, and what fails. */
export function UpstreamLines({
  upstreams,
}: {
  readonly upstreams: readonly UpstreamFigures[];
}): Shown {
  return html`<ul class="lines">${upstreams.map(
    ({ cluster, group, healthy, lastFailure, lastMinute, members, proxies }) => html`<li>
      <div class="row"><code>${cluster}</code> <span class="muted">seen by ${count(proxies)} of ${group}</span>
        <${Badge} tone=${healthy === 0 ? 'bad' : healthy < members ? 'warn' : 'ok'}>${healthy} of ${members} healthy<//>
        ${troubles(lastMinute).map(text => html`<${Badge} tone="bad">${text}<//>`)}</div>
      ${lastFailure === undefined ? null : html`<div class="wrap"><span class="muted">Last failure ${ago(lastFailure.at, serverNow())} ago${lastFailure.upstream === undefined ? '' : ` at ${lastFailure.upstream}`}:</span> ${lastFailure.text}</div>`}
    </li>`,
  )}</ul>`;
}

const WORDS: readonly (readonly [keyof UpstreamFigures['lastMinute'], string])[] = [
  ['connectFailures', 'connections failed'],
  ['tlsFailures', 'TLS failed'],
  ['noHealthy', 'found no healthy instance'],
  ['late', 'got no answer in time'],
  ['updateFailures', 'look-ups failed'],
  ['checkFailures', 'checks failed'],
  ['ejections', 'taken out'],
];

function troubles(counts: UpstreamFigures['lastMinute']): readonly string[] {
  return WORDS.filter(([what]) => counts[what] > 0).map(
    ([what, text]) => `${count(counts[what])} ${text}`,
  );
}
