import type { GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import { CALLBACK_PATH, LOGIN_PATH, LOGOUT_PATH } from '#ext-authz/oauth2/session/origin.ts';
import type { RuleAt } from '#ext-authz/policy/rule.ts';
import { providerTime } from '#ext-authz/provider/provider-time.ts';
import { answerCallback } from './callback.ts';
import type { CallbackTimes } from './callback-refusal.ts';
import { answerFreshLogin } from './fresh-login.ts';
import { failurePage, incomplete, methodNotAllowed } from './gateway-page.ts';
import { answerHandoff, answerTicket } from './handoff.ts';
import { answerLogout } from './logout.ts';
import { isAhead } from './navigation.ts';
import { type Protecting, protecting } from './protecting.ts';

/**
 * Answers the gateway's own paths of the OAuth2 filters, before all rules. Rejects with
 * ProviderError and StoreUnavailable. See docs/reference/kinds/filter.md.
 * @returns undefined when the path is not one of them
 */
export async function gatewayEndpoint(
  request: HttpRequest,
  filters: readonly LoginFilter[],
  signal: () => AbortSignal,
  ruleAt: RuleAt,
): Promise<GatewayAnswer | undefined> {
  const [path] = request.target.split(/[?#]/, 1);
  const candidates = protecting(request, filters);
  const deadline = candidates[0]?.filter.sources.deadline ?? signal;
  const time = providerTime(signal, deadline);
  if (path === LOGOUT_PATH) return answerLogout(candidates, request, time);
  if (path === LOGIN_PATH) return answerFreshLogin(candidates, request, time, ruleAt);
  return path === CALLBACK_PATH
    ? redirectionEndpoint(candidates, request, { check: signal, provider: time })
    : undefined;
}

const PARAMETERS = ['state', 'code', 'error', 'iss', 'handoff', 'ticket'] as const;

/**
 * Answers what comes back from the provider, and both ends of a hand-off. No parameter may be
 * present twice (RFC 6749 section 3.1). A browser that fetches ahead gets an error, which it throws
 * away. It would use up what counts once.
 */
async function redirectionEndpoint(
  candidates: readonly Protecting[],
  request: HttpRequest,
  times: CallbackTimes,
): Promise<GatewayAnswer> {
  if (request.method !== 'GET') return methodNotAllowed(request, 'GET');
  if (isAhead(request)) return failurePage(request, 503, 'A login does not end ahead of time.');
  const query = new URL(request.target, 'http://gateway').searchParams;
  if (PARAMETERS.some(name => query.getAll(name).length > 1))
    return failurePage(request, 400, 'This address has a parameter twice.');
  const [state, code, error, iss, handoff, ticket] = PARAMETERS.map(
    name => query.get(name) ?? undefined,
  );
  const description = query.get('error_description') ?? undefined;
  if ((state !== undefined || error !== undefined) && handoff === undefined)
    return answerCallback(candidates, request, { state, code, error, description, iss }, times);
  if (handoff === undefined || state !== undefined) return incomplete(request);
  if (ticket !== undefined) return answerTicket(candidates, request, { handoff, ticket });
  return answerHandoff(candidates, request, handoff, times.provider);
}
