import type { FilterContext } from '#ext-authz/chain/filter-runner.ts';
import { answerPage } from '#ext-authz/http/answer-page.ts';
import type { Page } from '#ext-authz/http/html-page.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { Outcome } from '#ext-authz/http/outcome.ts';
import type { RuleItem } from '#ext-authz/policy/rule.ts';
import { canLogIn } from './navigation.ts';
import { askingPage } from './return-url.ts';

/**
 * What `insteadOfRedirect` comes to where the filter would redirect. `undefined` when it redirects.
 * Sets no cookies. When no inner filter has decided, the outcome is the 403 page. A request that
 * the rule says nothing of, and that cannot show a login, gets 401. Its JSON names the page that
 * sent it (`login_url`): to load that page again is what leads to the login.
 */
export async function insteadOfRedirect(
  where: Where,
  request: HttpRequest,
  item: RuleItem,
  context: FilterContext,
): Promise<Outcome | undefined> {
  const instead = item.arguments.insteadOfRedirect;
  if (instead === undefined || !instead.applies(request))
    return canLogIn(request) ? undefined : denied(where, request, 401);
  if (instead.status !== undefined) return denied(where, request, instead.status);
  return (await context.runInner(instead.items, request)) ?? denied(where, request, 403);
}

type Where = { readonly realm: string; readonly origin: string };

/** RFC 9110 section 15.5.2: a 401 has a challenge; RFC 6750 section 3. */
function denied({ origin, realm }: Where, request: HttpRequest, status: number): Outcome {
  if (status !== 401) return answer(request, { status });
  const page = askingPage(request, origin);
  const headers = [['www-authenticate', `Bearer realm="${realm}"`]] as const;
  return answer(request, {
    status,
    headers,
    ...(page !== undefined && { members: { login_url: page } }),
  });
}

function answer(request: HttpRequest, page: Omit<Page, 'message'>): Outcome {
  return {
    kind: 'answer',
    answer: answerPage(request, { ...page, message: 'You must be logged in.' }),
  };
}
