import type { FilterContext } from '#ext-authz/chain/filter-runner.ts';
import { answerPage } from '#ext-authz/http/answer-page.ts';
import type { FilterDecision } from '#ext-authz/http/filter-decision.ts';
import type { Page } from '#ext-authz/http/html-page.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { RuleItem } from '#ext-authz/policy/rule.ts';
import { canLogIn } from './navigation.ts';
import { askingPage } from './return-url.ts';

/**
 * Decides by `insteadOfRedirect` where the filter would redirect. It sets no cookies. When no inner
 * filter has decided, the outcome is the 403 page. A request that cannot show a login, and for
 * which the rule says nothing, gets 401. Its JSON names the page that sent it (`login_url`),
 * because loading that page again leads to the login.
 * @returns undefined when the filter redirects
 */
export async function insteadOfRedirect(
  where: Where,
  request: HttpRequest,
  item: RuleItem,
  context: FilterContext,
): Promise<FilterDecision | undefined> {
  const instead = item.arguments.insteadOfRedirect;
  if (instead === undefined || !instead.applies(request))
    return canLogIn(request) ? undefined : denied(where, request, 401);
  if (instead.status !== undefined) return denied(where, request, instead.status);
  return (await context.runInner(instead.items, request)) ?? denied(where, request, 403);
}

type Where = { readonly realm: string; readonly origin: string };

/** A 401 has a challenge (RFC 9110 section 15.5.2, RFC 6750 section 3). */
function denied({ origin, realm }: Where, request: HttpRequest, status: number): FilterDecision {
  if (status !== 401) return answer(request, { status });
  const page = askingPage(request, origin);
  const headers = [['www-authenticate', `Bearer realm="${realm}"`]] as const;
  return answer(request, {
    status,
    headers,
    ...(page !== undefined && { members: { login_url: page } }),
  });
}

function answer(request: HttpRequest, page: Omit<Page, 'message'>): FilterDecision {
  return {
    kind: 'answer',
    answer: answerPage(request, { ...page, message: 'You must be logged in.' }),
  };
}
