import type { ProblemRow } from '#controlplane/console/views/problems.ts';
import { shortName } from './format.ts';
import { html, type Shown } from './html.ts';
import { to } from './location.ts';
import { Badge, Source } from './parts.ts';

/** Problems with their places. One of a Mapping leads to its route. */
export function ProblemLines({ problems }: { readonly problems: readonly ProblemRow[] }): Shown {
  return html`<ul class="lines">${problems.map(
    ({ field, file, id, kind, line, message, name, severity }) => html`<li>
      <div class="row">
        <${Badge} tone=${severity === 'error' ? 'bad' : 'warn'}>${severity}<//>
        ${kind === 'Mapping' ? html`<a href=${to('route', { id })}>Mapping ${shortName(id)}</a>` : html`<span>${kind} ${name === '' ? '' : shortName(id)}</span>`}
        ${file === '' ? null : html`<${Source} file=${file} line=${line} />`}
      </div>
      <div class="wrap">${field === undefined ? null : html`<code>${field}</code> `}${message}</div>
    </li>`,
  )}</ul>`;
}
