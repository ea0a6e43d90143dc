import { type GoMap, goInt, goMap } from '#resources/template/go-value.ts';
import type { JwtSettings } from '../filter-settings.ts';
import type { HttpRequest } from '../http-request.ts';
import type { Answer } from '../outcome.ts';
import { renderHeaders, renderText, type TemplatePlace } from './inject-headers.ts';

/** Why a JWT filter does not let a request pass. `reason` is ASCII without quotes. Source: RFC 6750 section 3.1. */
export type Refusal =
  | { readonly kind: 'no_token' }
  | { readonly kind: 'invalid_request' | 'invalid_token'; readonly reason: string }
  | { readonly kind: 'insufficient_scope'; readonly scope: readonly string[] };

const STATUS = { no_token: 401, invalid_request: 400, invalid_token: 401, insufficient_scope: 403 } as const;

type ErrorResponse = JwtSettings['errorResponse'];

/**
 * The answer to a refused request, as `errorResponse` words it; its headers may replace the challenge. `json` leaves `.error` out, and `.request_id` as
 * the status is no 5XX. Throws a TemplateFault. Source: decisions, "JWT filter".
 */
export function refusalAnswer(
  request: Pick<HttpRequest, 'id'>,
  refusal: Refusal,
  { bodyTemplate, headers: templates, realm: shown }: ErrorResponse,
  realm: string,
): Answer {
  const status = STATUS[refusal.kind];
  const data = () => errorData(status, messageOf(refusal), request.id);
  const place = (field: string): TemplatePlace => ({ realm, field: `errorResponse.${field}` });
  const headers = new Map([
    ['cache-control', 'no-store'],
    ['www-authenticate', challenge(refusal, shown)],
    ...renderHeaders(templates, data, place('headers')),
  ]);
  const body = renderText(bodyTemplate, data, place('bodyTemplate')) ?? '';
  return { status, headers: [...headers], body };
}

/** RFC 6750 section 3: a request without token learns the realm only. */
export function challenge(refusal: Refusal, realm: string): string {
  const attributes: readonly (readonly [name: string, value: string])[] = [
    ['realm', realm],
    ...(refusal.kind === 'no_token'
      ? []
      : ([
          ['error', refusal.kind],
          ['error_description', messageOf(refusal)],
        ] as const)),
    ...(refusal.kind === 'insufficient_scope' ? ([['scope', refusal.scope.join(' ')]] as const) : []),
  ];
  return `Bearer ${attributes.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}

function messageOf(refusal: Refusal): string {
  if (refusal.kind === 'no_token') return 'a bearer token is required';
  return refusal.kind === 'insufficient_scope' ? 'the token lacks a required scope' : refusal.reason;
}

function errorData(status: number, message: string, requestId: string): GoMap {
  return goMap(
    [
      ['status_code', goInt(status)],
      ['message', message],
      ['request_id', requestId.toWellFormed()],
      ['error', message],
    ],
    status < 500 ? ['request_id', 'error'] : ['error'],
  );
}
