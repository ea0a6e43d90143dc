import { webClient } from '../testing/oidc-clients.ts';
import { startOidcProvider } from '../testing/oidc-provider.ts';

export const USER = { username: 'ada', password: 'difference' };

export type CertifiedProvider = {
  /** Where the provider is, on this machine. */
  readonly port: number;
  /** Base URL of the edge. */
  readonly edge: string;
  /** Seconds. */
  readonly accessTokenTtl: number;
  /** Whether it grants refresh tokens. */
  readonly refreshes: boolean;
};

/** A certified provider of a test's own. `close` may be called twice. */
export async function startCertifiedProvider({
  accessTokenTtl,
  edge,
  port,
  refreshes,
}: CertifiedProvider): Promise<{ close(): Promise<void> }> {
  const client = webClient({ client_id: 'site', client_secret: 'secret' }, [
    `${edge}/.gateway/oauth2/redirection-endpoint`,
  ]);
  const provider = await startOidcProvider({
    clients: [refreshes ? client : { ...client, grant_types: ['authorization_code'] }],
    users: [USER],
    jwtClients: ['site'],
    accessTokenTtl,
    port,
  });
  let closed: Promise<void> | undefined;
  return {
    close: () => {
      closed ??= provider.close();
      return closed;
    },
  };
}

/** The resources that put `/<name>` behind a login at the provider at this port. */
export function guardedPath(
  name: string,
  { edge, port }: Pick<CertifiedProvider, 'edge' | 'port'>,
): string {
  return `apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: ${name} }
spec:
  OAuth2:
    authorizationURL: http://127.0.0.1:${port}
    clientID: site
    secret: secret
    protectedOrigins: [{ origin: "${edge}" }]
    injectRequestHeaders:
      - { name: X-User, value: "{{ .idToken.Claims.sub }}" }
      - { name: X-User-Scope, value: "{{ .token.Signature }}" }
---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: ${name} }
spec:
  rules: [{ path: "/${name}*", filters: [{ name: ${name} }] }]
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: ${name} }
spec: { prefix: /${name}, rewrite: /account/api, service: user-service, resolver: sds }
`;
}
