import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Children, html, type Shown } from './html.ts';
import { LOGIN_ENDED, type View } from './live.ts';
import { go, to } from './location.ts';

export type Tone = 'ok' | 'warn' | 'bad' | 'quiet' | 'plain';

/** A word about a state. Its colour is never all that it says. */
export function Badge({ tone, children }: Children & { readonly tone: Tone }): Shown {
  return html`<span class="badge ${tone}">${children}</span>`;
}

/** A number, and what it counts. With `href` it leads to its cause. */
export function Stat({
  label,
  value,
  note,
  tone = 'plain',
  href,
}: {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly tone?: Tone;
  readonly href?: string;
}): Shown {
  const inside = html`<span class="label">${label}</span>
    <span class="value">${value}</span>
    ${note === undefined ? null : html`<span class="note">${note}</span>`}`;
  return href === undefined
    ? html`<div class="stat ${tone}">${inside}</div>`
    : html`<a class="stat ${tone}" href=${href}>${inside}</a>`;
}

export function Panel({
  title,
  aside,
  children,
  wide = false,
}: Children & {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly wide?: boolean;
}): Shown {
  return html`<section class="panel ${wide ? 'wide' : ''}">
    <header><h2>${title}</h2>${aside === undefined ? null : html`<div class="aside">${aside}</div>`}</header>
    ${children}
  </section>`;
}

export function Empty({ children }: Children): Shown {
  return html`<p class="empty">${children}</p>`;
}

/** Shows what a view has: the screen, a line while it loads, or why there is none. */
export function Loaded<T>({
  view,
  show,
}: {
  readonly view: View<T>;
  readonly show: (data: T) => Shown;
}): Shown {
  const { data, error } = view;
  return html`${error === undefined ? null : html`<p class="notice bad" role="alert"><${Reason} error=${error} /></p>`}
    ${data !== undefined ? show(data) : error === undefined ? html`<p class="empty" role="status">Loading …</p>` : null}`;
}

/** Why there is nothing to show. The page leads to the login when it is loaded again. */
export function Reason({ error }: { readonly error: string }): Shown {
  if (error !== LOGIN_ENDED) return html`<span>${error}</span>`;
  const { origin, pathname, search } = window.location;
  return html`<span>${error} <a href=${origin + pathname + search}>Load the page again.</a></span>`;
}

/** Where a resource is written. */
export function Source({ file, line }: { readonly file: string; readonly line: number }): Shown {
  const name = file.split('/').pop() ?? file;
  return html`<code class="source" title=${file}>${name}${line > 0 ? `:${line}` : ''}</code>`;
}

/** A box for the search of a list. What is typed becomes a part of the address. */
export function Search({
  screen,
  query,
  label,
}: {
  readonly screen: string;
  readonly query: URLSearchParams;
  readonly label: string;
}): Shown {
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const asked = query.get('search') ?? '';
  // What the address does not have yet. A view that changes meanwhile would take it away.
  const [text, setText] = useState<string | undefined>(undefined);
  useEffect(() => {
    if (text === asked) setText(undefined);
  }, [text, asked]);
  const typed = (event: Event) => {
    const { value } = event.target as HTMLInputElement;
    setText(value);
    window.clearTimeout(timer.current);
    const others = Object.fromEntries(query);
    timer.current = window.setTimeout(
      () => go(to(screen, { ...others, offset: undefined, search: value }), true),
      150,
    );
  };
  return html`<input type="search" class="search" aria-label=${label} placeholder=${label}
    value=${text ?? asked} onInput=${typed} maxlength="200" spellcheck=${false} />`;
}

export type Column<T> = {
  readonly head: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Numbers stand at the right. */
  readonly number?: boolean;
  readonly className?: string;
};

/** A table, on a narrow screen a list of cards. Arrow keys go from row to row. */
export function Table<T>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string | number;
}): Shown {
  const classOf = ({ number, className = '' }: Column<T>) =>
    `${number ? 'number' : ''} ${className}`;
  return html`<table>
    <caption class="hidden">${caption}</caption>
    <thead><tr>${columns.map(column => html`<th scope="col" class=${classOf(column)}>${column.head}</th>`)}</tr></thead>
    <tbody>${rows.map(
      row => html`<tr key=${keyOf(row)}>
        ${columns.map(column => html`<td class=${classOf(column)} data-head=${column.head}>${column.cell(row)}</td>`)}
      </tr>`,
    )}</tbody>
  </table>`;
}
