/** The site of the bench is `gateway.test`. Its pages under `/guarded-<i>/` need a login. */
export const HOST = 'gateway.test';
export const ORIGIN = `http://${HOST}`;
export const FILTER = 'site';
export const CLIENT = { client_id: 'site', client_secret: 'secret' };

/** Returns a page that the last of so many FilterPolicies guards. */
export function pageOf(policies: number): string {
  return `/guarded-${policies - 1}/page`;
}

/**
 * Returns one Filter that logs in at this provider, and `policies` FilterPolicies with a path each.
 * With 0 policies nothing is guarded. `decisionCache` is a field of the Filter.
 */
export function siteYaml(
  issuer: string,
  policies: number,
  { decisionCache, prefix = '/' }: SiteOptions = {},
): string {
  const guards = Array.from({ length: policies }, (_, i) => policy(i));
  const filters = policies === 0 ? [] : [filter(issuer, decisionCache)];
  return [...filters, ...guards, mapping(prefix)].join('---\n');
}

export type SiteOptions = { readonly decisionCache?: string; readonly prefix?: string };

function filter(issuer: string, decisionCache: string | undefined): string {
  const cache = decisionCache === undefined ? '' : `    decisionCache: ${decisionCache}\n`;
  return `apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: ${FILTER} }
spec:
  OAuth2:
    authorizationURL: ${issuer}
    clientID: ${CLIENT.client_id}
    secret: ${CLIENT.client_secret}
    protectedOrigins: [{ origin: "${ORIGIN}" }]
    injectRequestHeaders: [{ name: X-User, value: "{{ .idToken.Claims.sub }}" }]
${cache}`;
}

function policy(i: number): string {
  return `apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: guarded-${i} }
spec:
  rules: [{ path: "/guarded-${i}/*", filters: [{ name: ${FILTER} }] }]
`;
}

function mapping(prefix: string): string {
  return `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: site }
spec: { prefix: ${prefix}, service: "127.0.0.1:1" }
`;
}
