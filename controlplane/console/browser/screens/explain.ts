import { useEffect, useState } from 'preact/hooks';
import type { Explained } from '#controlplane/console/views/explained.ts';
import { html, type Shown } from '../html.ts';
import { post } from '../live.ts';
import { go, to } from '../location.ts';
import { Reason } from '../parts.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

type State = { readonly answer?: Explained; readonly error?: string };

/**
 * What happens to a request, and why. The question is a part of the address, but for its headers,
 * which may be credentials.
 */
export function Explain({ query }: { readonly query: URLSearchParams }): Shown {
  const [state, set] = useState<State>({});
  const asked = query.get('url');
  const text = query.toString();
  const headers = keptHeaders();
  useEffect(() => {
    // What was said of another request must not stand under this one.
    set({});
    if (asked === null) return;
    let isOver = false;
    const question = {
      method: query.get('method') ?? 'GET',
      url: asked,
      headers: headers.split('\n').filter(line => line.trim() !== ''),
      from: query.get('from') || '127.0.0.1',
      nodeGroup: query.get('group') || 'edge',
    };
    post<Explained>('explain', question).then(
      answer => isOver || set({ answer }),
      (error: Error) => isOver || set({ error: error.message }),
    );
    return () => {
      isOver = true;
    };
  }, [text, headers]);
  const ask = (event: SubmitEvent) => {
    event.preventDefault();
    const { headers, ...fields } = Object.fromEntries(
      new FormData(event.target as HTMLFormElement),
    ) as Record<string, string>;
    go(to('explain', fields), false, { headers });
  };
  const value = (name: string, otherwise = '') => query.get(name) ?? otherwise;
  return html`<div class="head"><h1>Explain</h1><span class="muted">What happens to a request, and why</span></div>
    <div class="split">
      <section class="panel"><form class="fields body" style="padding-top: 14px" onSubmit=${ask}>
        <div class="row end">
          <label class="field">Method<select name="method">${METHODS.map(
            method =>
              html`<option selected=${method === value('method', 'GET')}>${method}</option>`,
          )}</select></label>
          <label class="field grow">URL or path<input name="url" required value=${value('url')} placeholder="http://example.com/user/ada" maxlength="8000" spellcheck=${false} /></label>
        </div>
        <label class="field">Headers, one a line<textarea name="headers" rows="4" placeholder="Accept: text/html" spellcheck=${false}>${headers}</textarea></label>
        <div class="row end">
          <label class="field grow">Client address<input name="from" value=${value('from')} placeholder="127.0.0.1" /></label>
          <label class="field grow">Node group<input name="group" value=${value('group')} placeholder="edge" /></label>
          <button class="main">Explain</button>
        </div>
      </form></section>
      <section class="panel" aria-live="polite">
        <header><h2>Answer</h2></header>
        ${asked === null ? html`<p class="empty">Ask about a request. Nothing is sent to a service.</p>` : html`<${Answer} ...${state} />`}
      </section>
    </div>`;
}

/** The history of the tab keeps them, also when the page is loaded again. */
function keptHeaders(): string {
  const { headers = '' } = (window.history.state ?? {}) as { readonly headers?: string };
  return headers;
}

function Answer({ answer, error }: State): Shown {
  if (error !== undefined)
    return html`<div class="body"><p class="notice bad"><${Reason} error=${error} /></p></div>`;
  if (answer === undefined) return html`<p class="empty">Asking …</p>`;
  const { conclusion, sections } = answer;
  return html`<div class="body">
      ${conclusion.map(line => html`<p class="notice ${/answered [45]|goes to no/.test(line) && !line.includes('then it') ? 'warn' : 'ok'}" style="margin: 0">${line}</p>`)}
    </div>
    <ol class="steps">${sections.map(
      ({ lines, title }) =>
        html`<li><h3>${title}</h3>${lines.map(line => html`<p class="path wrap" style=${`padding-left: ${indent(line)}px`}>${linked(line.trim())}</p>`)}</li>`,
    )}</ol>`;
}

function indent(line: string): number {
  return Math.min(4, (line.length - line.trimStart().length) / 2) * 14;
}

/** Makes a link of each route that a line names. */
function linked(line: string): readonly unknown[] {
  return line.split(/((?:Mapping|HTTPRoute|GRPCRoute) [\w.-]+\/[\w.-]*\w)/).map((part, index) => {
    if (index % 2 === 0) return part;
    const id = part.replace(' ', '/');
    return html`<a href=${to('route', { id })}>${part}</a>`;
  });
}
