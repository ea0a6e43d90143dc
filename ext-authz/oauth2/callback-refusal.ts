import { faultFacts, faultOf, WordedFault } from '../fault.ts';
import type { HttpRequest } from '../http-request.ts';
import type { Answer } from '../outcome.ts';
import { ProviderError, shownErrorCode } from '../provider/provider-error.ts';
import { shownDescription } from '../provider/shown-description.ts';
import type { Attempt } from './attempt.ts';
import { failurePage } from './gateway-page.ts';
import type { Protecting } from './protecting.ts';

/** RFC 6749 sections 4.1.2 and 4.1.2.1, RFC 9207. */
export type CallbackParameters = {
  readonly state: string;
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
  readonly signal: () => AbortSignal;
};

/** RFC 6749 section 10.12. */
export function refusedBrowser({ attempt, filter: { realm }, place, request }: Callback): Answer {
  const message = 'This login was begun in another browser, or its cookie is gone.';
  const reason =
    attempt.origin === place.origin
      ? `the cookie gateway_pending.${realm} of this login did not come with it`
      : `the login was begun for ${attempt.origin} and came back to ${place.origin}`;
  return failurePage(request, 403, message, '/', [], { realm, reason });
}

/** The provider sent an error. RFC 6749 section 4.1.2.1; RFC 9207 section 2.4: `iss` counts there too. */
export async function refused(
  { attempt, filter, parameters, request, signal }: Callback,
  error: string,
): Promise<Answer> {
  await filter.provider.checkIssuer(parameters.iss, signal());
  const code = shownErrorCode(error);
  const [status, message] =
    code === 'access_denied'
      ? ([403, 'The identity provider has denied access (access_denied).'] as const)
      : ([502, `The login failed at the identity provider: ${code}.`] as const);
  const said = shownDescription(parameters.description, [parameters.state]);
  const saying = said === undefined ? '' : `, saying ${JSON.stringify(said)}`;
  const reason = `the provider sent the browser back with ${code}${saying}`;
  return failurePage(request, status, message, attempt.returnUrl, [], { realm: filter.realm, reason });
}

/** `message` is for who logs in, `reason` for the log. */
export function refusedPage(
  { attempt, filter, request }: Callback,
  message: string,
  reason = message,
): Answer {
  return failurePage(request, 502, message, attempt.returnUrl, [], { realm: filter.realm, reason });
}

/** The code was refused, or came to no ID token; throws any other error. Of a refusal its code may be shown, everything else is the operator's to know. */
export function refusedToken(callback: Callback, error: unknown): Answer {
  if (!(error instanceof ProviderError)) throw error;
  const { code, message, oauthError } = error;
  if (code === 'no_id_token')
    return refusedPage(callback, 'The identity provider sent no ID token.', message);
  if (oauthError === undefined) throw error;
  return refusedPage(callback, `The identity provider has refused the login: ${oauthError}.`, message);
}

/** The error, with a page where one can begin again when it is the provider's. */
export function failed({ attempt, filter, request }: Callback, error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error;
  const { message, status } = faultFacts(faultOf(error));
  return new WordedFault(error, failurePage(request, status, message, attempt.returnUrl), filter.realm);
}
