import { answerPage } from '#ext-authz/http/answer-page.ts';
import type { GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import { formatOrigin } from '#resources/words/origin.ts';

type Headers = readonly (readonly [name: string, value: string])[];
type Listing = Pick<LoginFilter, 'settings'>;

/** Returns the CORS headers of an answer, for listed origins of these Filters only. */
export function corsHeaders(filters: readonly Listing[], { headers }: HttpRequest): Headers {
  const vary = ['vary', 'Origin'] as const;
  const [origin, ...others] = headers.get('origin') ?? [];
  const listed = filters.some(({ settings: { protectedOrigins } }) =>
    protectedOrigins.some(item => formatOrigin(item.origin) === origin),
  );
  if (origin === undefined || others.length > 0 || !listed) return [vary];
  return [
    ['access-control-allow-origin', origin],
    ['access-control-allow-credentials', 'true'],
    vary,
  ];
}

/** What scripts send besides the form. With credentials a wildcard would not count. */
const PREFLIGHT: Headers = [
  ['access-control-allow-methods', 'POST'],
  ['access-control-allow-headers', 'content-type, x-requested-with'],
  ['access-control-max-age', '600'],
];

/**
 * Returns whether a browser asks if a script may send a request (Fetch standard, CORS-preflight
 * request).
 */
export function isPreflight({ headers, method }: HttpRequest): boolean {
  return (
    method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method')
  );
}

/**
 * Answers a preflight for all Filters of the origin. A preflight says nothing of the body, in which
 * the realm may be.
 */
export function answerPreflight(filters: readonly Listing[], request: HttpRequest): GatewayAnswer {
  const cors = corsHeaders(filters, request);
  if (cors.length > 1) return { status: 204, headers: [...cors, ...PREFLIGHT], body: '' };
  const message = 'Pages of this origin may not log out here.';
  return answerPage(request, { status: 403, message, headers: cors });
}
