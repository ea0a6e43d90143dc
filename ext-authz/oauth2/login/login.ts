import { seeOther } from '#ext-authz/http/answer-page.ts';
import type { GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { SetCookie } from '#ext-authz/oauth2/session/cookies.ts';
import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import { CALLBACK_PATH, loginOrigin, type Place } from '#ext-authz/oauth2/session/origin.ts';
import type { SameSite } from '#ext-authz/policy/rule.ts';
import { type Attempt, newAttempt } from './attempt.ts';
import { loginPage } from './gateway-page.ts';
import { type Handoff, sealHandoff } from './handoff-text.ts';
import { isShown } from './navigation.ts';
import { keepAttempt } from './pending-cookies.ts';
import { returnUrl } from './return-url.ts';
import { isSpent } from './spent-states.ts';

/** What a request needs that the filter does not let pass without a login. */
export type LoginNeed = {
  readonly scope: readonly string[];
  readonly sameSite: SameSite | undefined;
  /** The key of the session's record that a step-up ends. */
  readonly replaces?: string;
  /** Default: what the request asks for. */
  readonly returnUrl?: string;
};

type Asking = {
  readonly request: HttpRequest;
  readonly place: Place;
  readonly signal: AbortSignal;
  /** What the provider is to ask the user for (OpenID Connect Core section 3.1.2.1). */
  readonly prompt?: string;
};

/**
 * Sends the browser to the provider. From an origin that does not hold the login, it sends the
 * browser to the one that does. `cookies` are set too.
 */
export async function beginLogin(
  filter: LoginFilter,
  asking: Asking,
  need: LoginNeed,
  cookies: readonly SetCookie[],
): Promise<GatewayAnswer> {
  const { place, request } = asking;
  const attempt = newAttempt(filter, {
    returnUrl: need.returnUrl ?? returnUrl(request, place.origin),
    scope: need.scope,
    ...(need.sameSite !== undefined && { sameSite: need.sameSite }),
    ...(need.replaces !== undefined && { replaces: need.replaces }),
    sessionCookies: filter.usesSessionCookies(request),
  });
  const url = place.holdsLogin
    ? await providerUrl(filter, asking, attempt)
    : `${redirectUriOf(filter)}?handoff=${sealHandoff(filter, place.origin, attempt)}`;
  return leave(filter, asking, attempt, url, cookies);
}

/** Begins the login that a hand-off waits for, at the origin that holds logins. */
export async function beginLoginFor(
  filter: LoginFilter,
  asking: Asking,
  { id, origin, ...wish }: Handoff,
): Promise<GatewayAnswer> {
  const attempt = newAttempt(filter, { ...wish, handoff: { id, origin } });
  return leave(filter, asking, attempt, await providerUrl(filter, asking, attempt), []);
}

/**
 * A login that could not end without the store is not begun. The link behind a hand-off is known to
 * the other origin alone, and so is its fragment.
 */
async function leave(
  filter: LoginFilter,
  { place, request }: Asking,
  attempt: Attempt,
  url: string,
  cookies: readonly SetCookie[],
): Promise<GatewayAnswer> {
  await isSpent(filter, attempt.state);
  const kept = keepAttempt(filter, place, request, attempt);
  const all = [...cookies, ...kept.cookies];
  const hasFragment = attempt.handoff === undefined && isShown(request);
  return hasFragment ? loginPage(request, url, all, kept.fragment) : seeOther(url, all);
}

/**
 * Builds the URL of RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1 and RFC 7636
 * section 4.3.
 */
async function providerUrl(
  filter: LoginFilter,
  { prompt, signal }: Asking,
  { codeVerifier, nonce, scope, state }: Attempt,
): Promise<string> {
  const { provider, settings } = filter;
  await provider.metadata(signal);
  const redirectUri = redirectUriOf(filter);
  const extra = {
    ...Object.fromEntries(settings.extraAuthorizationParameters),
    ...(prompt !== undefined && { prompt }),
  };
  return provider.authorizationUrl(
    { redirectUri, scope, state, nonce, codeVerifier, extra },
    signal,
  );
}

/** Returns the redirect URI, which is always at the first origin. */
export function redirectUriOf({ settings }: Pick<LoginFilter, 'settings'>): string {
  return `${loginOrigin(settings.protectedOrigins)}${CALLBACK_PATH}`;
}
