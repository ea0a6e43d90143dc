import type { FilterRunner } from '#ext-authz/chain/filter-runner.ts';
import {
  type CredentialFilterParts,
  credentialFilter,
  type OAuth2Definition,
} from './credential-grant.ts';
import { clientCredentials } from './credential-headers.ts';

/**
 * RFC 6749 section 5.2. An assertion is refused as `invalid_client` (RFC 7521 section 4.2.1), or by
 * some providers as a grant. Auth0 says `access_denied`, UAA `unauthorized`, Salesforce
 * `invalid_client_id`.
 */
const REFUSED_BY = [
  ...['invalid_client', 'invalid_grant', 'unauthorized_client'],
  ...['access_denied', 'unauthorized', 'invalid_client_id'],
];

/**
 * Opens the OAuth2 filter with grantType ClientCredentials. The credentials of a request become the
 * client authentication of a token request (RFC 6749 section 4.4). See
 * docs/reference/kinds/filter.md.
 */
export function clientCredentialsFilter(
  definition: OAuth2Definition,
  parts: CredentialFilterParts,
): FilterRunner {
  const { clientAuthentication } = definition.settings;
  return credentialFilter(
    definition,
    {
      read: headers => clientCredentials(headers, clientAuthentication, parts.now()),
      ask: (credentials, scope, signal) =>
        parts.provider.clientCredentials({ credentials, scope }, signal),
      refusedBy: REFUSED_BY,
    },
    parts,
  );
}
