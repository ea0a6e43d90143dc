import { type Adapter, required } from './adapter.ts';
import { authorizationUrl, withParameters } from './authorization-url.ts';
import type { Provider } from './provider.ts';
import { ProviderError } from './provider-error.ts';
import { endpointOf, type ProviderMetadata } from './provider-metadata.ts';

/** What concerns the browser's ways to and from the provider. */
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
    endSessionUrl: async ({ idTokenHint, postLogoutRedirectURI, state }, signal) => {
      const { end_session_endpoint: endpoint } = await documents.metadata(signal);
      if (endpoint === undefined) return undefined;
      return withParameters(endpoint, [
        ...(idTokenHint.length > LONGEST_HINT ? [] : [['id_token_hint', idTokenHint] as const]),
        ['client_id', required(own).clientID],
        ...(postLogoutRedirectURI === undefined
          ? []
          : [['post_logout_redirect_uri', postLogoutRedirectURI] as const]),
        ...(state === undefined ? [] : [['state', state] as const]),
      ]);
    },
  };
}

/**
 * Many servers take 8 KiB of a request line, and an ID token with all of somebody's groups may be longer. Without the hint, which is optional
 * (RP-Initiated Logout section 2), the provider asks before it logs out.
 */
const LONGEST_HINT = 6_000;

/** RFC 9207 section 2.4: compared as text. */
export function checkIssuer(metadata: ProviderMetadata, iss: string | undefined): void {
  if (iss === metadata.issuer) return;
  if (iss === undefined && !metadata.authorization_response_iss_parameter_supported) return;
  const text =
    iss === undefined ? 'has no `iss`, which the provider promises' : 'has the `iss` of another issuer';
  throw new ProviderError('issuer_mismatch', `the callback ${text}; expected ${metadata.issuer}`);
}
