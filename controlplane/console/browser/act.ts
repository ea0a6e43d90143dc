import { useEffect, useState } from 'preact/hooks';
import { type Children, html, type Shown } from './html.ts';
import { post } from './live.ts';

/** Says whether the reader may act. */
export function useMayAct(): boolean {
  const [mayAct, set] = useState(false);
  useEffect(() => {
    fetch('/console/api/visitor')
      .then(answer => answer.json())
      .then(
        visitor => set(visitor.mayAct === true),
        () => {},
      );
  }, []);
  return mayAct;
}

type State = { readonly done?: string; readonly error?: string };

/**
 * A form that acts after it has asked back. `read` makes the action of the fields. `done` says what
 * was ordered.
 */
export function ActForm({
  action,
  ask,
  button,
  children,
  done,
  read,
}: Children & {
  readonly action: string;
  readonly ask: string;
  readonly button: string;
  readonly done: string;
  readonly read: (fields: Readonly<Record<string, string>>) => object;
}): Shown {
  const [state, set] = useState<State>({});
  const mayAct = useMayAct();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.target as HTMLFormElement));
    if (!window.confirm(ask)) return;
    post(action, read(fields as Record<string, string>)).then(
      () => set({ done }),
      (error: Error) => set({ error: error.message }),
    );
  };
  return html`<form class="row end" onSubmit=${submit}>${children}
    <button class="danger" disabled=${!mayAct} title=${mayAct ? '' : 'You may look, but not act (CONSOLE_OPERATORS)'}>${button}</button>
    <span role="status" class=${state.error === undefined ? 'muted' : 'error'}>${state.error ?? state.done ?? ''}</span>
  </form>`;
}
