import { type Adapter, required } from './adapter.ts';
import { authorizationUrl, withParameters } from './authorization-url.ts';
import type { Provider } from './provider.ts';
import { ProviderError } from './provider-error.ts';
import { endpointOf, type ProviderMetadata } from './provider-metadata.ts';

/** Opens what concerns the browser's ways to and from the provider. */
export function browserCalls({
  documents,
  own,
}: Adapter): Pick<Provider, 'authorizationUrl' | 'checkIssuer' | 'endSessionUrl'> {
  return {
    authorizationUrl: async (request, signal) => {
      const { clientID } = required(own);
      return authorizationUrl(
        endpointOf(await documents.metadata(signal), 'authorization_endpoint'),
        clientID,
        request,
      );
    },
    checkIssuer: async (iss, signal) => checkIssuer(await documents.metadata(signal), iss),
    endSessionUrl: async (request, signal) =>
      endSessionUrl(await documents.metadata(signal), required(own).clientID, request),
  };
}

/**
 * Returns where the browser logs out (OpenID Connect RP-Initiated Logout section 2).
 * @returns undefined when the provider has no such place
 */
export function endSessionUrl(
  {
    end_session_endpoint: endpoint,
    issuer,
  }: Pick<ProviderMetadata, 'end_session_endpoint' | 'issuer'>,
  clientID: string,
  { idTokenHint, postLogoutRedirectURI: back, state }: Parameters<Provider['endSessionUrl']>[0],
): string | undefined {
  if (endpoint === undefined) return undefined;
  return withParameters(endpoint, [
    ...(idTokenHint.length > LONGEST_HINT ? [] : [['id_token_hint', idTokenHint] as const]),
    ['client_id', clientID],
    ...(back === undefined ? [] : [['post_logout_redirect_uri', back] as const]),
    ...(back !== undefined && COGNITO.test(issuer) ? [['logout_uri', back] as const] : []),
    ...(state === undefined ? [] : [['state', state] as const]),
  ]);
}

/**
 * Amazon Cognito announces `end_session_endpoint`, but answers an error without a parameter of its
 * own name (Amazon Cognito, "The managed login logout endpoint").
 */
const COGNITO = /^https:\/\/cognito-idp\.[\w-]+\.amazonaws\.com(?:\.cn)?\//;

/**
 * Many servers accept a request line of 8 KiB, and an ID token with all groups of a user may be
 * longer. Without the hint, which is optional (RP-Initiated Logout section 2), the provider asks
 * before it logs out.
 */
const LONGEST_HINT = 6_000;

/** Compares as text (RFC 9207 section 2.4). */
export function checkIssuer(metadata: ProviderMetadata, iss: string | undefined): void {
  if (iss === metadata.issuer) return;
  if (iss === undefined && !metadata.authorization_response_iss_parameter_supported) return;
  const text =
    iss === undefined
      ? 'has no `iss`, which the provider promises'
      : 'has the `iss` of another issuer';
  throw new ProviderError('issuer_mismatch', `the callback ${text}. Expected ${metadata.issuer}`);
}
