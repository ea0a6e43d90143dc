import type { OAuth2Settings } from '../filter-settings.ts';
import type { Provider } from './provider.ts';
import { type Endpoint, endpointOf } from './provider-metadata.ts';

const NEEDED: Readonly<Record<OAuth2Settings['grantType'], readonly Endpoint[]>> = {
  AuthorizationCode: ['authorization_endpoint', 'token_endpoint', 'jwks_uri'],
  Password: ['token_endpoint'],
  ClientCredentials: ['token_endpoint'],
};

/**
 * Asks for what a Filter's requests will need of its provider before any of them does: the discovery document, what it must name, the keys. Rejects with a
 * ProviderError.
 */
export async function lookAtProvider(
  provider: Pick<Provider, 'metadata' | 'keySet'>,
  grantType: OAuth2Settings['grantType'],
  signal: AbortSignal,
): Promise<void> {
  const metadata = await provider.metadata(signal);
  for (const endpoint of NEEDED[grantType]) endpointOf(metadata, endpoint);
  if (metadata.jwks_uri !== undefined) await provider.keySet(signal);
}
