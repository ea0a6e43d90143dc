import type { SampledRequest } from '#controlplane/figures/figures.ts';
import { html, type Shown } from '../html.ts';
import { useView } from '../live.ts';
import { go, to } from '../location.ts';
import { Loaded } from '../parts.ts';
import { RequestTable } from '../request-table.ts';

type Traffic = {
  readonly on: boolean;
  readonly sources: number;
  readonly note?: string;
  readonly requests: readonly SampledRequest[];
};

const STATUSES: readonly (readonly [string, string])[] = [
  ['', 'any status'],
  ['2', '2xx'],
  ['3', '3xx'],
  ['4', '4xx'],
  ['5', '5xx and failures'],
];

/** The tail of requests, by status, route and client. */
export function LiveTraffic({ query }: { readonly query: URLSearchParams }): Shown {
  const view = useView<Traffic>(`traffic?${query}`);
  const value = (name: string) => query.get(name) ?? '';
  const choose = (event: Event) => {
    event.preventDefault();
    const form = (event.target as HTMLElement).closest('form');
    if (form !== null)
      go(to('traffic', Object.fromEntries(new FormData(form)) as Record<string, string>), true);
  };
  return html`<div class="head"><h1>Live traffic</h1>
      <span class="muted">All up to about 30 a second, beyond that a share</span></div>
    <form class="row end" style="margin-bottom: 14px" onSubmit=${choose} onChange=${choose}>
      <label class="field">Status<select name="status">${STATUSES.map(
        ([status, text]) =>
          html`<option value=${status} selected=${status === value('status')}>${text}</option>`,
      )}</select></label>
      <label class="field grow">Route<input name="route" value=${value('route')} placeholder="Mapping/default/user" spellcheck=${false} /></label>
      <label class="field grow">Client<input name="client" value=${value('client')} placeholder="192.0.2.1" spellcheck=${false} /></label>
      <label class="field grow">Node group<input name="group" value=${value('group')} placeholder="edge" spellcheck=${false} /></label>
      <a class="button" href=${to('traffic')}>All</a>
    </form>
    <${Loaded} view=${view} show=${({
      note,
      on,
      requests,
    }: Traffic) => html`<section class="panel wide">
      ${note === undefined ? null : html`<p class="muted">${note}</p>`}
      ${on ? html`<${RequestTable} requests=${requests} />` : html`<p class="empty">The proxies push no requests, since FIGURES is off.</p>`}
    </section>`} />`;
}
