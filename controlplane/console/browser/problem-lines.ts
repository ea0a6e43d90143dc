import type { ProblemRow } from '#controlplane/console/views/problems.ts';
import { isRoute, shortName } from './format.ts';
import { html, type Shown } from './html.ts';
import { to } from './location.ts';
import { Badge, Source } from './parts.ts';

/** Problems with their places. That of a route leads to its page. */
export function ProblemLines({ problems }: { readonly problems: readonly ProblemRow[] }): Shown {
  return html`<ul class="lines">${problems.map(
    ({ field, file, id, kind, line, message, name, severity }) => html`<li>
      <div class="row">
        <${Badge} tone=${severity === 'error' ? 'bad' : 'warn'}>${severity}<//>
        ${pageOf(id) === undefined ? html`<span>${kind} ${name === '' ? '' : shortName(id)}</span>` : html`<a href=${pageOf(id)}>${kind} ${shortName(id)}</a>`}
        ${file === '' ? null : html`<${Source} file=${file} line=${line} />`}
      </div>
      <div class="wrap">${field === undefined ? null : html`<code>${field}</code> `}${message}</div>
    </li>`,
  )}</ul>`;
}

/** @returns undefined when the resource has no page */
function pageOf(id: string): string | undefined {
  if (isRoute(id)) return to('route', { id });
  return /^(?:Gateway|ListenerSet)\//.test(id) ? to('gateways', { search: id }) : undefined;
}
