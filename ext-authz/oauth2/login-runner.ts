import { answerPage } from '../answer-page.ts';
import { type Eventually, whenThere } from '../eventually.ts';
import type { FilterContext, FilterRunner } from '../filter-runner.ts';
import type { HttpRequest } from '../http-request.ts';
import type { Answer, Outcome } from '../outcome.ts';
import type { RuleItem } from '../rule.ts';
import { insteadOfRedirect } from './instead-of-redirect.ts';
import { beginLogin, type LoginNeed } from './login.ts';
import type { LoginFilter } from './login-filter.ts';
import type { Place } from './origin.ts';
import type { Presented } from './presented.ts';
import { deadCookies, presentedSession, usableSession } from './presented-session.ts';
import { providerTime } from './provider-time.ts';
import { renewedCookies } from './renewal.ts';
import type { Session } from './session.ts';
import { scopeState } from './session-state.ts';

/**
 * The OAuth2 filter with grantType AuthorizationCode: lets requests of a session with the rule's scope pass, with its access token, and sends others
 * to log in. Source: document 1, "Protected-request handling rules".
 */
export function loginRunner(filter: LoginFilter): FilterRunner {
  return (request, item, context) => {
    const place = filter.placeOf(request);
    if (place === undefined) return forbidden(request, 'This host is not one of the protected origins.');
    const signal = providerTime(() => context.signal(), filter.sources.deadline);
    return whenThere(presentedSession(filter, request), presented => {
      const visit = { filter, request, item, context, place, presented, signal };
      return whenThere(usableSession(filter, presented.loaded, signal), session =>
        session === undefined ? logIn(visit, ruleScope(item)) : useSession(visit, session),
      );
    });
  };
}

type Visit = {
  readonly filter: LoginFilter;
  readonly request: HttpRequest;
  readonly item: RuleItem;
  readonly context: FilterContext;
  readonly place: Place;
  readonly presented: Presented;
  readonly signal: () => AbortSignal;
};

/** Document 1, "Arguments of the OAuth2 filter" */
function ruleScope(item: RuleItem): readonly string[] {
  return item.arguments.scope ?? DEFAULT_SCOPE;
}

const DEFAULT_SCOPE = ['openid'];

function useSession(visit: Visit, session: Session): Eventually<Outcome> {
  const { filter, item, request, signal } = visit;
  const scope = ruleScope(item);
  const state = scopeState(session, scope);
  if (state === 'not granted') return missingScope(request);
  if (state === 'never asked') return logIn(visit, [...session.asked, ...scope]);
  return whenThere(filter.resourceServer.validate(session, scope, signal), verdict => {
    if (verdict.kind === 'invalid') return logIn(visit, [...session.asked, ...scope]);
    return verdict.kind === 'valid' ? allow(visit, session) : missingScope(request);
  });
}

function allow({ filter, place, presented, request }: Visit, session: Session): Eventually<Outcome> {
  const change = filter.resourceServer.change(session, request);
  const { loaded } = presented;
  const renewed = loaded === undefined ? [] : renewedCookies(filter, place, loaded.id, session, presented);
  return whenThere(renewed, cookies => {
    if (cookies.length === 0) return { kind: 'allow', change };
    const { remove, responseHeaders, set } = change; // another change than the one that comes again
    return { kind: 'allow', change: { set, remove, responseHeaders: [...responseHeaders, ...cookies] } };
  });
}

/** Document 1, rule 2: the scope always includes `openid`. */
async function logIn(visit: Visit, scope: readonly string[]): Promise<Outcome> {
  const { context, filter, item, place, presented, request, signal } = visit;
  const instead = await insteadOfRedirect(filter.realm, request, item, context);
  if (instead !== undefined) return instead;
  const { sameSite } = item.arguments;
  const asked = [...new Set(['openid', ...scope])].sort();
  const replaces = presented.loaded?.key;
  const need: LoginNeed = { scope: asked, sameSite, ...(replaces !== undefined && { replaces }) };
  const cookies = deadCookies(filter, place, presented, sameSite);
  return answer(await beginLogin(filter, { request, place, signal: signal() }, need, cookies));
}

function missingScope(request: HttpRequest): Outcome {
  return forbidden(request, 'The identity provider has not granted what this page needs.');
}

function forbidden(request: HttpRequest, message: string): Outcome {
  return answer(answerPage(request, { status: 403, message }));
}

function answer(value: Answer): Outcome {
  return { kind: 'answer', answer: value };
}
