import { WordedFault } from '#ext-authz/chain/fault.ts';
import type { GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { Page } from '#ext-authz/http/html-page.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { pendingPrefix } from '#ext-authz/oauth2/session/cookies.ts';
import { ProviderError, shownErrorCode } from '#ext-authz/provider/provider-error.ts';
import { shownDescription } from '#ext-authz/provider/shown-description.ts';
import type { Attempt } from './attempt.ts';
import { freshLogin } from './fresh-login.ts';
import { startAgain } from './gateway-page.ts';
import { OTHER_BROWSER, providerFailure, refusedByProvider, unconfirmed } from './login-failure.ts';
import type { Protecting } from './protecting.ts';

/** RFC 6749 sections 4.1.2 and 4.1.2.1, RFC 9207. */
export type CallbackParameters = {
  readonly state: string | undefined;
  readonly code: string | undefined;
  readonly error: string | undefined;
  /** `error_description` */
  readonly description: string | undefined;
  readonly iss: string | undefined;
};

/** A browser that comes back from the provider, with the attempt that its `state` names. */
export type Callback = Protecting & {
  readonly request: HttpRequest;
  readonly attempt: Attempt;
  readonly parameters: CallbackParameters;
  /** The provider's time. */
  readonly signal: () => AbortSignal;
  /** Aborts when nothing waits for the answer any more. */
  readonly check: () => AbortSignal;
};

/** The time of a whole check, and what of it the provider may take. */
export type CallbackTimes = Record<'check' | 'provider', () => AbortSignal>;

/** RFC 6749 section 10.12. */
export function refusedBrowser(
  request: HttpRequest,
  { filter: { realm }, place }: Protecting,
): GatewayAnswer {
  const reason = `the cookie ${pendingPrefix(realm, place)} of this login did not come with it`;
  return startAgain(request, { ...OTHER_BROWSER, note: { realm, reason } });
}

/**
 * Answers when the provider sent an error (RFC 6749 section 4.1.2.1). `iss` counts there too (RFC
 * 9207 section 2.4).
 */
export async function refused(callback: Callback, error: string): Promise<GatewayAnswer> {
  const { attempt, filter, parameters, signal } = callback;
  await filter.provider.checkIssuer(parameters.iss, signal());
  const code = shownErrorCode(error);
  const { description, state } = parameters;
  const said = shownDescription(description, [state ?? '']);
  const stateless = state ? '' : ' and without `state`';
  const saying = said === undefined ? '' : `, saying ${JSON.stringify(said)}`;
  return failedPage(
    callback,
    { ...refusedByProvider(code), links: [freshLogin(filter, attempt.returnUrl)] },
    `the provider sent the browser back with ${code}${stateless}${saying}`,
  );
}

/** Answers when the access token was refused. `message` is for the user and for the log. */
export function refusedPage(callback: Callback, message: string): GatewayAnswer {
  return failedPage(callback, unconfirmed(message), message);
}

/** Answers when the code was refused, or gave no ID token. Throws any other error. */
export function refusedToken(callback: Callback, error: unknown): GatewayAnswer {
  if (!(error instanceof ProviderError)) throw error;
  const { code, message, refusal } = error;
  if (code === 'no_id_token') return failedPage(callback, providerFailure(error), message);
  if (refusal === undefined) throw error;
  const said = `The identity provider refused the login: ${refusal}.`;
  return failedPage(callback, unconfirmed(said), message);
}

/**
 * Returns the error. When it is the provider's, it has a page with which the user can begin again.
 */
export function failed({ attempt, filter, request }: Callback, error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error;
  const page = startAgain(request, providerFailure(error), attempt.returnUrl);
  return new WordedFault(error, page, filter.realm);
}

/** `reason` is for the log. */
function failedPage(
  { attempt, filter, request }: Callback,
  page: Page,
  reason: string,
): GatewayAnswer {
  return startAgain(request, { ...page, note: { realm: filter.realm, reason } }, attempt.returnUrl);
}
