import type { FilterContext, FilterRunner } from '#ext-authz/chain/filter-runner.ts';
import { answerPage } from '#ext-authz/http/answer-page.ts';
import type {
  AnswerNote,
  Change,
  FilterDecision,
  GatewayAnswer,
} from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { XSRF } from '#ext-authz/oauth2/session/cookies.ts';
import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import type { Place } from '#ext-authz/oauth2/session/origin.ts';
import type { Presented } from '#ext-authz/oauth2/session/presented.ts';
import {
  deadCookies,
  presentedSession,
  refreshedSession,
  usableSession,
} from '#ext-authz/oauth2/session/presented-session.ts';
import { holdsFor, renewedCookies } from '#ext-authz/oauth2/session/renewal.ts';
import type { Session } from '#ext-authz/oauth2/session/session.ts';
import { scopeState } from '#ext-authz/oauth2/session/session-state.ts';
import { missingScope as missingOf } from '#ext-authz/oauth2/tokens/scope.ts';
import type { RuleItem } from '#ext-authz/policy/rule.ts';
import { providerTime } from '#ext-authz/provider/provider-time.ts';
import { type Eventually, whenThere } from '#process/eventually.ts';
import { freshLogin } from './fresh-login.ts';
import { insteadOfRedirect } from './instead-of-redirect.ts';
import { beginLogin, type LoginNeed } from './login.ts';
import { returnUrl } from './return-url.ts';

/**
 * Returns the OAuth2 filter with grantType AuthorizationCode. It lets requests of a session with
 * the rule's scope pass with its access token, and sends others to log in. See
 * docs/reference/kinds/filter.md.
 */
export function loginRunner(filter: LoginFilter): FilterRunner {
  return (request, item, context) => {
    const place = filter.placeOf(request);
    if (place === undefined)
      return forbidden(request, FOREIGN, { reason: whyForeign(filter, request) });
    const signal = providerTime(() => context.signal(), filter.sources.deadline);
    return whenThere(presentedSession(filter, place, request), presented => {
      const visit = { filter, request, item, context, place, presented, signal };
      let reason: string | undefined;
      const usable = usableSession(filter, presented.loaded, signal, refused => {
        reason = refused;
      });
      return whenThere(usable, session =>
        session === undefined ? logIn(visit, ruleScope(item), reason) : useSession(visit, session),
      );
    });
  };
}

const FOREIGN = 'This host is not one of the protected origins.';

/** Operators often forget a proxy in front that ends TLS. */
function whyForeign({ placeOf }: LoginFilter, { authority, scheme }: HttpRequest): string {
  const reason = `no item of protectedOrigins is at ${scheme}://${authority}`;
  return placeOf({ authority, scheme: 'https' }) === undefined
    ? reason
    : `${reason}, and one is at https. A proxy in front that ends TLS must be counted in xff_num_trusted_hops`;
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

/** See docs/reference/kinds/filter-policy.md. */
function ruleScope(item: RuleItem): readonly string[] {
  return item.arguments.scope ?? DEFAULT_SCOPE;
}

const DEFAULT_SCOPE = ['openid'];

function useSession(visit: Visit, session: Session): Eventually<FilterDecision> {
  const { filter, item, signal } = visit;
  const scope = ruleScope(item);
  const state = scopeState(session, scope);
  if (state === 'not granted') return missingScope(visit, notGranted(session, scope));
  if (state === 'never asked') return logIn(visit, [...session.asked, ...scope]);
  return whenThere(filter.resourceServer.validate(session, scope, signal), verdict => {
    if (verdict.kind === 'valid') return allow(visit, session);
    if (verdict.kind === 'insufficient_scope') return missingScope(visit, verdict.check);
    return useFreshToken(visit, session, verdict.check);
  });
}

/**
 * Refreshes a session whose access token is refused before its time, once for a request. A provider
 * counts in whole seconds and by its own clock, so for it a token may end earlier than here.
 */
async function useFreshToken(
  visit: Visit,
  session: Session,
  check: string,
): Promise<FilterDecision> {
  const { filter, item, presented, signal } = visit;
  const { loaded } = presented;
  let reason = check;
  const fresh =
    loaded?.session === session && session.refreshToken !== undefined
      ? await refreshedSession(filter, loaded, 'expired', signal, refused => {
          reason = refused;
        })
      : undefined;
  if (fresh !== undefined) return useSession(visit, fresh);
  return logIn(visit, [...session.asked, ...ruleScope(item)], reason);
}

function allow(
  { filter, place, presented, request }: Visit,
  session: Session,
): Eventually<FilterDecision> {
  const change = filter.resourceServer.change(session, request);
  const { loaded } = presented;
  const renewed =
    loaded === undefined ? [] : renewedCookies(filter, place, loaded.id, session, presented);
  return whenThere(renewed, cookies => {
    if (cookies.length === 0)
      return { kind: 'allow', change: remembered(change, holdsFor(filter, place, session)) };
    const { remove, responseHeaders, set } = change; // another change than the one that is repeated
    const added = [...responseHeaders, ...cookies];
    return {
      kind: 'allow',
      change: { set, remove, responseHeaders: added, ...trueXsrf(filter, session) },
    };
  });
}

function remembered(change: Change, holds: number): Change {
  return holds === 0 ? change : { ...change, holds };
}

/**
 * Lets only this session's xsrf cookie reach the application. Applications compare a form with that
 * cookie. A neighbour below the same domain may have planted another.
 */
function trueXsrf({ realm }: LoginFilter, { xsrf }: Session): Pick<Change, 'cookies'> {
  return { cookies: new Map([[`${XSRF}.${realm}`, xsrf]]) };
}

/** The scope always includes `openid` (docs/reference/kinds/filter.md). */
async function logIn(
  visit: Visit,
  scope: readonly string[],
  reason?: string,
): Promise<FilterDecision> {
  const { context, filter, item, place, presented, request, signal } = visit;
  const instead = await insteadOfRedirect(
    { realm: filter.realm, origin: place.origin },
    request,
    item,
    context,
  );
  if (instead !== undefined) return withReason(instead, reason);
  const { sameSite } = item.arguments;
  const asked = [...new Set(['openid', ...scope])].sort();
  const replaces = presented.loaded?.key;
  const need: LoginNeed = { scope: asked, sameSite, ...(replaces !== undefined && { replaces }) };
  const cookies = deadCookies(filter, place, presented, sameSite);
  const away = await beginLogin(filter, { request, place, signal: signal() }, need, cookies);
  return withReason(answer(away), reason ?? rivalry(filter, presented));
}

/** Browsers send cookies that the gateway cannot clear, and then each login leads to the next. */
function rivalry({ shared }: LoginFilter, { several }: Presented): string | undefined {
  return several
    ? `the cookie ${shared.session} has several values, so none counts. A gateway for a domain above may set it: give the Filter another name`
    : undefined;
}

/** Tells the log why the present session does not suffice. */
function withReason(outcome: FilterDecision, reason: string | undefined): FilterDecision {
  if (reason === undefined || outcome.kind !== 'answer') return outcome;
  return answer({ note: { reason }, ...outcome.answer });
}

function notGranted({ granted }: Session, scope: readonly string[]): string {
  return `the provider was asked for \`scope\` ${missingOf(scope, granted).join(' ')} and has not granted it`;
}

/** Another account may have what this one lacks. */
function missingScope({ filter, place, request }: Visit, reason: string): FilterDecision {
  const page = {
    status: 403,
    title: 'Your account may not see this page',
    message: 'The identity provider has not granted what this page needs.',
    advice: 'Log in as someone else, or ask the people who run this site for access.',
    links: [freshLogin(filter, returnUrl(request, place.origin))],
    note: { reason },
  };
  return answer(answerPage(request, page));
}

function forbidden(request: HttpRequest, message: string, note: AnswerNote): FilterDecision {
  return answer(answerPage(request, { status: 403, message, note }));
}

function answer(value: GatewayAnswer): FilterDecision {
  return { kind: 'answer', answer: value };
}
