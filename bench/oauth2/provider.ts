import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { webClient } from '#ext-authz/testing/oidc-clients.ts';
import {
  type OidcProvider,
  RESOURCE,
  startOidcProvider,
} from '#ext-authz/testing/oidc-provider.ts';
import { CALLBACK, CLIENT, USER } from './site.ts';

/** A certified provider, and access tokens as it would issue them to as many users. */
export type BenchProvider = OidcProvider & { readonly accessTokens: readonly string[] };

const LIFETIME_SECONDS = 3_600;

/**
 * Starts one with `count` access tokens. They are JWTs (RFC 9068) signed by its key, and each has
 * to be verified separately.
 */
export async function startProvider(count: number): Promise<BenchProvider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const provider = await startOidcProvider({
    clients: [webClient(CLIENT, [CALLBACK])],
    users: [USER],
    jwtClients: [CLIENT.client_id],
    accessTokenTtl: LIFETIME_SECONDS,
    signingKeys: [{ ...(await exportJWK(privateKey)), kid: 'first', use: 'sig', alg: 'RS256' }],
  });
  const accessTokens: string[] = [];
  for (let n = 0; n < count; n++) {
    const claims = { client_id: CLIENT.client_id, scope: 'openid', jti: `${n}`, sub: `user-${n}` };
    const token = new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'first', typ: 'at+jwt' })
      .setIssuer(provider.issuer)
      .setAudience(RESOURCE)
      .setIssuedAt()
      .setExpirationTime(`${LIFETIME_SECONDS}s`);
    accessTokens.push(await token.sign(privateKey));
  }
  return { ...provider, accessTokens };
}
