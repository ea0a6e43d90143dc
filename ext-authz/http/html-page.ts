import { hash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { escapeHtml } from '#process/escape-html.ts';
import type { AnswerNote } from './filter-decision.ts';
import { LONGEST_FRAGMENT } from './fragment.ts';

/**
 * What an answer of the gateway's own says, in plain words. `message` is text and may hold
 * anything.
 */
export type Page = {
  readonly status: number;
  readonly message: string;
  /** The headline of an HTML page. Default: by the status. */
  readonly title?: string;
  /** What the reader can do about it, on an HTML page. */
  readonly advice?: string;
  /** Headers besides the fixed ones, in this order. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** What an HTML page shows below. */
  readonly links?: readonly Link[];
  /** Makes it an HTML page that moves on by itself. */
  readonly refresh?: Refresh;
  /** Further members of a JSON answer. */
  readonly members?: Readonly<Record<string, string>>;
  readonly note?: AnswerNote | undefined;
};

/** Where a page moves on to. The fragment of its own address goes along, or into a cookie. */
export type Refresh = {
  readonly url: string;
  /** A `Set-Cookie` field with an empty value, for a cookie that scripts may set. */
  readonly fragmentCookie?: string;
};

export type Link = { readonly href: string; readonly text: string };

/** What every answer says. */
export type Facts = {
  readonly message: string;
  readonly request_id?: string;
  readonly status_code: number;
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'This request cannot be answered',
  401: 'You are not logged in',
  403: 'You may not see this page',
  404: 'There is no such page',
  429: 'Too many attempts',
  500: 'This page does not work at the moment',
  502: 'The login does not work at the moment',
  503: 'This page does not work at the moment',
  504: 'The login does not work at the moment',
};

/**
 * Returns a page for people. It needs no style, so its Content-Security-Policy allows none.
 * Browsers colour it light or dark, as the reader prefers.
 */
export function htmlPage({ message, request_id, status_code }: Facts, page: Page): string {
  const title = escapeHtml(page.title ?? titleOf(status_code));
  const lines = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    ...refreshOf(page),
    `<title>${title}</title>`,
    '</head>',
    '<body>',
    '<main>',
    `<h1>${title}</h1>`,
    `<p>${escapeHtml(message)}</p>`,
    ...(page.advice === undefined ? [] : [`<p>${escapeHtml(page.advice)}</p>`]),
    ...linksOf(page),
    `<p><small>Status ${status_code}${idOf(request_id)}</small></p>`,
    '</main>',
    '</body>',
    '</html>',
  ];
  return `${lines.join('\n')}\n`;
}

/** A status without a name counts as the first of its class (RFC 9110 section 15). */
function titleOf(status: number): string {
  return TITLES[status] ?? STATUS_CODES[status] ?? TITLES[status - (status % 100)] ?? '';
}

/**
 * The one script that a page may run. The fragment of the page's address, which no server sees,
 * goes into the cookie that the page names. Without such a cookie it goes along. Without scripts it
 * is lost.
 */
const MOVE_ON = [
  "const { dataset, href } = document.querySelector('link')",
  'const part = encodeURIComponent(location.hash.slice(1))',
  'const { cookie, most } = dataset',
  "if (cookie && part && part.length <= most) document.cookie = cookie.replace('=', '=' + part)",
  "location.replace(cookie || href.includes('#') ? href : href + location.hash)",
].join('; ');

/** Allows that script to run (CSP Level 3 section 2.3.1). */
export const MOVE_ON_SOURCE = `'sha256-${hash('sha256', MOVE_ON, 'base64')}'`;

function refreshOf({ refresh }: Page): readonly string[] {
  if (refresh === undefined) return [];
  const [url, cookie] = [escapeHtml(refresh.url), escapeHtml(refresh.fragmentCookie ?? '')];
  return [
    `<link rel="next" href="${url}" data-cookie="${cookie}" data-most="${LONGEST_FRAGMENT}">`,
    `<noscript><meta http-equiv="refresh" content="0; url=${url}"></noscript>`,
    `<script>${MOVE_ON}</script>`,
  ];
}

function linksOf({ links = [] }: Page): readonly string[] {
  if (links.length === 0) return [];
  const items = links.map(
    ({ href, text }) => `<li><a href="${escapeHtml(href)}">${escapeHtml(text)}</a></li>`,
  );
  return ['<ul>', ...items, '</ul>'];
}

function idOf(id: string | undefined): string {
  return id === undefined ? '' : `, request ID <code>${escapeHtml(id)}</code>`;
}
