import { errorFacts, type FaultFacts, WordedFault } from '#ext-authz/chain/fault.ts';
import type { GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { JwtSettings } from '#ext-authz/policy/filter-settings.ts';
import type { GoMap } from '#resources/template/go-type.ts';
import { goInt, goMap } from '#resources/template/go-value.ts';
import { renderHeaders, renderText, TemplateFault, type TemplatePlace } from './inject-headers.ts';

/**
 * Why a JWT filter does not let a request pass (RFC 6750 section 3.1). `reason` is ASCII without
 * quotes.
 */
export type JwtRefusal =
  | { readonly kind: 'no_token' }
  | { readonly kind: 'invalid_request' | 'invalid_token'; readonly reason: string }
  | {
      readonly kind: 'insufficient_scope';
      readonly scope: readonly string[];
      /** The values of `scope` that the token lacks. */
      readonly missing: readonly string[];
    };

const STATUS = {
  no_token: 401,
  invalid_request: 400,
  invalid_token: 401,
  insufficient_scope: 403,
} as const;

type ErrorResponse = JwtSettings['errorResponse'];

/**
 * Returns the answer to a refused request, as `errorResponse` words it. Its headers may replace the
 * challenge. `realm` names the Filter in errors. Throws a TemplateFault. See
 * docs/reference/kinds/filter.md.
 */
export function refusalAnswer(
  request: Asker,
  refusal: JwtRefusal,
  errorResponse: ErrorResponse,
  realm: string,
): GatewayAnswer {
  const facts = { status: STATUS[refusal.kind], message: messageOf(refusal) };
  const worded = wordedAnswer(request, facts, errorResponse, realm);
  const answer = { ...worded, note: { reason: reasonOf(refusal) } };
  if (answer.headers.some(([name]) => name === 'www-authenticate')) return answer;
  const own = ['www-authenticate', challenge(refusal, errorResponse.realm)] as const;
  return { ...answer, headers: [...answer.headers, own] };
}

/**
 * Returns the fault that an error of ours stands for, as `errorResponse` words it. Returns the
 * error itself when that cannot be rendered either. See docs/reference/kinds/filter.md.
 */
export function wordedFault(
  request: Asker,
  error: unknown,
  errorResponse: ErrorResponse,
  realm: string,
): unknown {
  try {
    return new WordedFault(error, wordedAnswer(request, errorFacts(error), errorResponse, realm));
  } catch (other) {
    return other instanceof TemplateFault ? error : other;
  }
}

type Asker = Pick<HttpRequest, 'id'>;

/** `json` leaves `.error` out, and `.request_id` unless the status is 5XX. */
function wordedAnswer(
  request: Asker,
  facts: FaultFacts,
  { bodyTemplate, headers: templates }: ErrorResponse,
  realm: string,
): GatewayAnswer {
  const data = () => errorData(facts.status, facts.message, request.id);
  const place = (field: string): TemplatePlace => ({ realm, field: `errorResponse.${field}` });
  const headers = renderHeaders(templates, data, place('headers'));
  const body = renderText(bodyTemplate, data, place('bodyTemplate')) ?? '';
  return {
    status: facts.status,
    headers: [...new Map([...FIXED, ...(facts.headers ?? []), ...headers])],
    body,
  };
}

const FIXED = [['cache-control', 'no-store']] as const;

/** Returns the challenge of RFC 6750 section 3. A request without token gets only the realm. */
function challenge(refusal: JwtRefusal, realm: string): string {
  const attributes: readonly (readonly [name: string, value: string])[] = [
    ['realm', realm],
    ...(refusal.kind === 'no_token'
      ? []
      : ([
          ['error', refusal.kind],
          ['error_description', messageOf(refusal)],
        ] as const)),
    ...(refusal.kind === 'insufficient_scope'
      ? ([['scope', refusal.scope.join(' ')]] as const)
      : []),
  ];
  return `Bearer ${attributes.map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`).join(', ')}`;
}

/** Returns the reason for the log. */
function reasonOf(refusal: JwtRefusal): string {
  return refusal.kind === 'insufficient_scope'
    ? `the token lacks the scope ${refusal.missing.join(' ')}`
    : messageOf(refusal);
}

function messageOf(refusal: JwtRefusal): string {
  if (refusal.kind === 'no_token') return 'a bearer token is required';
  return refusal.kind === 'insufficient_scope'
    ? 'the token lacks a required scope'
    : refusal.reason;
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
