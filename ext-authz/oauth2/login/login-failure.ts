import { errorFacts, type FaultFacts } from '#ext-authz/chain/fault.ts';
import type { Page } from '#ext-authz/http/html-page.ts';
import type { ProviderError } from '#ext-authz/provider/provider-error.ts';
import { mayPass } from '#ext-authz/provider/provider-health.ts';

/** What a page says of a failed login. */
export type LoginFailure = FaultFacts & Pick<Page, 'title'>;

const NOT_CONFIRMED = 'Your login could not be confirmed';
const NOT_LOGGED_IN =
  'You are not logged in. Start again. If this page comes back, tell the people who run this site the request ID.';

/**
 * Describes a provider that cannot be used, or whose answer cannot. The reason is for the operator,
 * and is in the log.
 */
export function providerFailure(error: ProviderError): LoginFailure {
  if (error.code === 'invalid_id_token' || error.code === 'unverified_id_token')
    return unconfirmed('The identity provider sent an ID token that is not valid.');
  if (error.code === 'no_id_token') return unconfirmed('The identity provider sent no ID token.');
  return mayPass(error) || error.status === TOO_MANY_REQUESTS ? outage(error) : MISFIT;
}

/** Describes a login whose code, or whose access token, was refused. */
export function unconfirmed(message: string): LoginFailure {
  return { status: 502, title: NOT_CONFIRMED, message, advice: NOT_LOGGED_IN };
}

const TOO_MANY_REQUESTS = 429;

function outage(error: ProviderError): LoginFailure {
  return {
    ...errorFacts(error),
    title: 'The login is not available at the moment',
    advice: 'Nothing is wrong with your account. Wait a moment, then start again.',
  };
}

const MISFIT: LoginFailure = {
  status: 502,
  title: 'The login does not work',
  message: 'The identity provider gave an answer that this site cannot use.',
  advice: 'Tell the people who run this site the request ID. Starting again may not help.',
};

/** Describes an error with which the provider sent the browser back (RFC 6749 section 4.1.2.1). */
export function refusedByProvider(code: string): LoginFailure {
  if (code !== 'access_denied') {
    const message = `The login failed at the identity provider: ${code}.`;
    return { status: 502, title: 'The login failed', message, advice: NOT_LOGGED_IN };
  }
  return {
    status: 403,
    title: 'You were denied access',
    message: 'The identity provider has denied access (access_denied).',
    advice: 'If you did not cancel the login, ask the people who run this site for access.',
  };
}

/** A `state` that no longer counts. The page was loaded again, or left open for too long. */
export const USED_LOGIN: LoginFailure = {
  status: 400,
  title: 'This login was used already, or it took too long',
  message: 'A login counts once, and for ten minutes.',
  advice: 'Loading this page again or going back does not help. Start again.',
};

/** A callback in another browser than the login (RFC 6749 section 10.12). */
export const OTHER_BROWSER: LoginFailure = {
  status: 403,
  title: 'This login belongs to another browser',
  message: 'This login was begun in another browser, or its cookie is gone.',
  advice: 'Start again here. If this page comes back, allow this site to set cookies.',
};
