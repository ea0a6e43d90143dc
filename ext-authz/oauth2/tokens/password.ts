import type { FilterRunner } from '#ext-authz/chain/filter-runner.ts';
import {
  type CredentialFilterParts,
  credentialFilter,
  type OAuth2Definition,
} from './credential-grant.ts';
import { userCredentials } from './credential-headers.ts';

/**
 * RFC 6749 section 5.2. Dex says `access_denied` and UAA `unauthorized`. Entra and Auth0 say that a
 * password alone is not enough. A refused client is the Filter's own, and so a fault of the
 * configuration.
 */
const REFUSED_BY = [
  ...['invalid_grant', 'access_denied', 'unauthorized'],
  ...['interaction_required', 'consent_required', 'mfa_required'],
];

/**
 * Opens the OAuth2 filter with grantType Password. User name and password of a request are
 * exchanged for a token (RFC 6749 section 4.3). A refresh token is neither stored nor used, because
 * the grant is made again. See docs/reference/kinds/filter.md.
 */
export function passwordFilter(
  definition: OAuth2Definition,
  parts: CredentialFilterParts,
): FilterRunner {
  return credentialFilter(
    definition,
    {
      read: userCredentials,
      ask: (credentials, scope, signal) =>
        parts.provider.password({ ...credentials, scope }, signal),
      refusedBy: REFUSED_BY,
    },
    parts,
  );
}
