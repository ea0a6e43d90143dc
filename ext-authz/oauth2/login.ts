import { seeOther } from '../answer-page.ts';
import type { HttpRequest } from '../http-request.ts';
import type { Answer } from '../outcome.ts';
import type { SameSite } from '../rule.ts';
import { newUrlSecret } from '../store/sealed-record.ts';
import { type Attempt, createAttempt, createHandoff, type Wish } from './attempt.ts';
import type { SetCookie } from './cookies.ts';
import type { LoginFilter } from './login-filter.ts';
import { CALLBACK_PATH, loginOrigin, type Place } from './origin.ts';
import { bindAttempt } from './pending-cookies.ts';
import { returnUrl } from './return-url.ts';

/** What a request needs that the filter will not let pass without logging in. */
export type LoginNeed = {
  readonly scope: readonly string[];
  readonly sameSite: SameSite | undefined;
  /** Key of the session's record that a step-up ends. */
  readonly replaces?: string;
};

type Asking = { readonly request: HttpRequest; readonly place: Place; readonly signal: AbortSignal };

/**
 * Sends the browser to the provider, or, from an origin that does not hold the login, to the one that does. `cookies` are set too.
 * Source: decisions, "OAuth2: login".
 */
export async function beginLogin(
  filter: LoginFilter,
  asking: Asking,
  need: LoginNeed,
  cookies: readonly SetCookie[],
): Promise<Answer> {
  const { place, request } = asking;
  const { pending, cookies: binding } = bindAttempt(filter, place, request);
  const wish: Wish = {
    origin: place.origin,
    returnUrl: returnUrl(request, place.origin),
    ...{ scope: need.scope, pending },
    ...(need.sameSite !== undefined && { sameSite: need.sameSite }),
    ...(need.replaces !== undefined && { replaces: need.replaces }),
    sessionCookies: filter.usesSessionCookies(request),
  };
  const url = place.holdsLogin
    ? await providerUrl(filter, asking, wish, {})
    : handoffUrl(filter, await createHandoff(filter, wish, request));
  return seeOther(url, [...cookies, ...binding]);
}

/** The login that a hand-off waits for, at the origin that holds logins. */
export async function beginLoginFor(
  filter: LoginFilter,
  asking: Asking,
  { handoff, wish }: { readonly handoff: string; readonly wish: Wish },
  scope: readonly string[],
): Promise<Answer> {
  const { pending, cookies } = bindAttempt(filter, asking.place, asking.request);
  const own: Wish = { ...wish, origin: asking.place.origin, scope, pending };
  return seeOther(await providerUrl(filter, asking, own, { handoff }), cookies);
}

/** RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1, RFC 7636 section 4.3. */
async function providerUrl(
  filter: LoginFilter,
  { request, signal }: Asking,
  wish: Wish,
  more: Pick<Attempt, 'handoff'>,
): Promise<string> {
  const { provider, settings, sources } = filter;
  await provider.metadata(signal);
  const [nonce, codeVerifier] = [newUrlSecret(sources.randomBytes), newUrlSecret(sources.randomBytes)];
  const state = await createAttempt(filter, { ...wish, ...more, nonce, codeVerifier }, request);
  const redirectUri = redirectUriOf(filter);
  const extra = Object.fromEntries(settings.extraAuthorizationParameters);
  const { scope } = wish;
  return provider.authorizationUrl({ redirectUri, scope, state, nonce, codeVerifier, extra }, signal);
}

/** Always at the first origin. */
export function redirectUriOf({ settings }: Pick<LoginFilter, 'settings'>): string {
  return `${loginOrigin(settings.protectedOrigins)}${CALLBACK_PATH}`;
}

function handoffUrl(filter: LoginFilter, handoff: string): string {
  return `${redirectUriOf(filter)}?handoff=${handoff}`;
}
