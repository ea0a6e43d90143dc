import { answerPage } from '../answer-page.ts';
import type { FilterContext } from '../filter-runner.ts';
import type { HttpRequest } from '../http-request.ts';
import type { Outcome } from '../outcome.ts';
import type { RuleItem } from '../rule.ts';

/**
 * What `insteadOfRedirect` comes to where the filter would redirect; undefined: it redirects. Sets no cookies. When no inner filter has decided, the
 * outcome is the 403 page. A WebSocket that nothing is said of gets 401. Source: document 1, "insteadOfRedirect"; decisions, "OAuth2: login".
 */
export async function insteadOfRedirect(
  realm: string,
  request: HttpRequest,
  item: RuleItem,
  context: FilterContext,
): Promise<Outcome | undefined> {
  const instead = item.arguments.insteadOfRedirect;
  if (instead === undefined || !instead.applies(request))
    return isWebSocket(request) ? denied(realm, request, 401) : undefined;
  if (instead.status !== undefined) return denied(realm, request, instead.status);
  return (await context.runInner(instead.items, request)) ?? denied(realm, request, 403);
}

/** It cannot log in: browsers follow no redirect of a WebSocket's (RFC 6455 section 4.1), and an attempt for each that comes again would push out those of pages. */
function isWebSocket({ headers }: HttpRequest): boolean {
  return (headers.get('upgrade') ?? []).some(protocol => protocol.toLowerCase() === 'websocket');
}

/** RFC 9110 section 15.5.2: a 401 has a challenge; RFC 6750 section 3. */
function denied(realm: string, request: HttpRequest, status: number): Outcome {
  const headers = status === 401 ? ([['www-authenticate', `Bearer realm="${realm}"`]] as const) : [];
  return { kind: 'answer', answer: answerPage(request, { status, message: MESSAGE, headers }) };
}

const MESSAGE = 'You must be logged in.';
