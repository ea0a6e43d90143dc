import { useEffect, useState } from 'preact/hooks';
import type { Acted, Doubted } from '#controlplane/console/act.ts';
import type { ServiceAnswer } from '#controlplane/orders/order-answers.ts';
import { type Children, html, type Shown } from './html.ts';
import { ANSWER_MS, fetchPost, reasonOf } from './live.ts';
import { Badge, Reason, type Tone } from './parts.ts';

let visitor: Promise<{ readonly mayAct?: boolean }> | undefined;

/** Says whether the reader may act. All forms ask once, and again only without an answer. */
function useMayAct(): boolean {
  const [mayAct, set] = useState(false);
  useEffect(() => {
    visitor ??= fetch('/console/api/visitor', { signal: AbortSignal.timeout(ANSWER_MS) }).then(
      answer => (answer.ok ? answer.json() : Promise.reject(answer)),
    );
    visitor.then(
      visitor => set(visitor.mayAct === true),
      () => {
        visitor = undefined;
      },
    );
  }, []);
  return mayAct;
}

/** The newest action: what was asked, and what came of it. */
type Result = {
  readonly what: string;
  readonly answers?: readonly ServiceAnswer[];
  readonly error?: string;
};

let tell: (result: Result) => void = () => {};

/** A form that acts after it has asked back. `read` makes the action of the fields. */
export function ActForm({
  action,
  ask,
  button,
  children,
  read,
}: Children & {
  readonly action: string;
  readonly ask: string;
  readonly button: string;
  readonly read: (fields: Readonly<Record<string, string>>) => object;
}): Shown {
  const mayAct = useMayAct();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.target as HTMLFormElement));
    if (!window.confirm(ask)) return;
    tell({ what: ask });
    run(action, read(fields as Record<string, string>)).then(
      answers => tell({ what: ask, ...(answers && { answers }) }),
      (error: Error) => tell({ what: ask, error: error.message }),
    );
  };
  return html`<form class="row end" onSubmit=${submit}>${children}
    <button class="danger" disabled=${!mayAct} title=${mayAct ? '' : 'You may look, but not act (CONSOLE_OPERATORS)'}>${button}</button>
  </form>`;
}

/** Acts. Asks once more when the control plane doubts it. Rejects with why nothing was done. */
async function run(action: string, body: object): Promise<readonly ServiceAnswer[]> {
  const answer = await fetchPost(action, body);
  if (answer.status === 409) {
    const { confirm } = (await answer.json()) as Doubted;
    if (!window.confirm(`${confirm}\n\nDo it all the same?`)) throw new Error('Nothing was done.');
    return run(action, { ...body, confirmed: true });
  }
  if (!answer.ok) throw new Error(await reasonOf(answer));
  return ((await answer.json()) as Acted).answers;
}

const TONES: Readonly<Record<ServiceAnswer['outcome'], Tone>> = {
  done: 'ok',
  failed: 'bad',
  silent: 'warn',
};

/** What came of the newest action. It stays when the row that it was about is gone. */
export function ActResult(): Shown {
  const [result, set] = useState<Result | undefined>(undefined);
  useEffect(() => {
    tell = set;
  }, []);
  return html`<div class="acted" role="status">${
    result === undefined
      ? null
      : html`<section class="panel"><header><h2>${result.what}</h2>
          <button class="small aside" onClick=${() => set(undefined)}>Close</button></header>
        <${Came} ...${result} /></section>`
  }</div>`;
}

function Came({ answers, error }: Result): Shown {
  if (error !== undefined) return html`<p class="body error"><${Reason} error=${error} /></p>`;
  if (answers === undefined) return html`<p class="body muted">Waiting for the answer …</p>`;
  if (answers.length === 0)
    return html`<p class="body">Stored. No service is connected that could answer.</p>`;
  return html`<ul class="lines">${answers.map(
    ({ node, outcome, text }) =>
      html`<li><div class="row"><${Badge} tone=${TONES[outcome]}>${outcome === 'silent' ? 'no answer' : outcome}<//> <code class="wrap">${node}</code></div><span class="wrap">${text}</span></li>`,
  )}</ul>`;
}
