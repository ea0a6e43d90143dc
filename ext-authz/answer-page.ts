import { escapeHtml } from '#process/escape-html.ts';
import { prefersHtml } from './accept.ts';
import type { HttpRequest } from './http-request.ts';
import type { Answer, AnswerNote } from './outcome.ts';

/** What an answer of the gateway's own says, in plain words. `message` is text: it may hold anything. */
export type Page = {
  readonly status: number;
  readonly message: string;
  /** Besides the fixed ones, in this order. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** A link that an HTML page shows below the message, and nothing else of the page uses. */
  readonly link?: { readonly href: string; readonly text: string };
  /** Where an HTML page moves on to by itself (`<meta http-equiv=refresh>`). */
  readonly refresh?: string;
  /** Further members of a JSON answer. */
  readonly members?: Readonly<Record<string, string>>;
  readonly note?: AnswerNote | undefined;
};

type Asker = Pick<HttpRequest, 'headers' | 'id'>;

/**
 * An answer of the gateway's own: `{ "message", "status_code" }`, with `request_id` on 5XX, as JSON, or as a small HTML page where `Accept` prefers it.
 * Never cached, never framed, and no script runs in it. Source: decisions, "OAuth2: errors and pages".
 */
export function answerPage(asker: Asker, page: Page): Answer {
  const facts = factsOf(asker, page);
  const html = page.refresh !== undefined || prefersHtml(asker.headers);
  return {
    status: page.status,
    headers: [
      ['content-type', html ? 'text/html; charset=utf-8' : 'application/json'],
      ...FIXED_HEADERS,
      ...(page.headers ?? []),
    ],
    body: html ? htmlPage(facts, page) : `${JSON.stringify({ ...facts, ...page.members })}\n`,
    ...(page.note !== undefined && { note: page.note }),
  };
}

/** An answer that only sends the browser elsewhere; the same fixed headers. RFC 9110 section 15.4.4. */
export function seeOther(location: string, headers: readonly (readonly [string, string])[] = []): Answer {
  return { status: 303, headers: [['location', location], ...FIXED_HEADERS, ...headers], body: '' };
}

const FIXED_HEADERS: readonly (readonly [string, string])[] = [
  ['cache-control', 'no-store'],
  ['referrer-policy', 'no-referrer'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['x-content-type-options', 'nosniff'],
];

type Facts = { readonly message: string; readonly status_code: number; readonly request_id?: string };

function factsOf({ id }: Asker, { status, message }: Page): Facts {
  return { message, status_code: status, ...(status >= 500 ? { request_id: id } : {}) };
}

function htmlPage({ message, status_code, request_id }: Facts, { link, refresh }: Page): string {
  const lines = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    ...(refresh === undefined ? [] : [`<meta http-equiv="refresh" content="0; url=${escapeHtml(refresh)}">`]),
    `<title>${status_code}</title>`,
    '</head>',
    '<body>',
    `<h1>${status_code}</h1>`,
    `<p>${escapeHtml(message)}</p>`,
    ...(link === undefined ? [] : [`<p><a href="${escapeHtml(link.href)}">${escapeHtml(link.text)}</a></p>`]),
    ...(request_id === undefined ? [] : [`<p>Request ${escapeHtml(request_id)}</p>`]),
    '</body>',
    '</html>',
  ];
  return `${lines.join('\n')}\n`;
}
