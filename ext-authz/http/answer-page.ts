import { prefersHtml } from './accept.ts';
import type { GatewayAnswer } from './filter-decision.ts';
import { type Facts, htmlPage, MOVE_ON_SOURCE, type Page } from './html-page.ts';
import type { HttpRequest } from './http-request.ts';

type Asker = Pick<HttpRequest, 'headers' | 'id'>;

/**
 * Returns an answer of the gateway's own. It is `{ "message", "request_id", "status_code" }` as
 * JSON, or a small HTML page with the same facts where `Accept` prefers it. It is never cached and
 * never framed. No script runs in it except the one that moves on.
 */
export function answerPage(asker: Asker, page: Page): GatewayAnswer {
  const facts = factsOf(asker, page);
  const html = page.refresh !== undefined || prefersHtml(asker.headers);
  return {
    status: page.status,
    headers: [
      ['content-type', html ? 'text/html; charset=utf-8' : 'application/json'],
      ...(page.refresh === undefined ? FIXED_HEADERS : MOVING_HEADERS),
      ...(page.headers ?? []),
    ],
    body: html ? htmlPage(facts, page) : `${JSON.stringify({ ...facts, ...page.members })}\n`,
    ...(page.note !== undefined && { note: page.note }),
  };
}

/**
 * Returns an answer that only sends the browser elsewhere, with the same fixed headers (RFC 9110
 * section 15.4.4).
 */
export function seeOther(
  location: string,
  headers: readonly (readonly [string, string])[] = [],
): GatewayAnswer {
  return { status: 303, headers: [['location', location], ...FIXED_HEADERS, ...headers], body: '' };
}

const FIXED_HEADERS = fixedHeaders("default-src 'none'; frame-ancestors 'none'");
const MOVING_HEADERS = fixedHeaders(
  `default-src 'none'; script-src ${MOVE_ON_SOURCE}; frame-ancestors 'none'`,
);

function fixedHeaders(policy: string): readonly (readonly [string, string])[] {
  return [
    ['cache-control', 'no-store'],
    ['referrer-policy', 'no-referrer'],
    ['content-security-policy', policy],
    ['x-content-type-options', 'nosniff'],
  ];
}

/** What cannot be read as a request has no id. */
function factsOf({ id }: Asker, { status, message }: Page): Facts {
  return { message, ...(id !== '' && { request_id: id }), status_code: status };
}
