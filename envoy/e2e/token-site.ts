import { createServer } from 'node:http';
import { type HostileProvider, startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { listenLocally } from './local-server.ts';
import { request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';

export type TokenAnswer = {
  readonly status: number;
  /** Without what differs from request to request. */
  readonly headers: unknown;
  /** Of the upstream: the fields that it got, byte for byte. */
  readonly body: string;
};

export type Fields = Readonly<Record<string, string | string[]>>;

/**
 * A gateway with one JWT Filter on three paths. Below `/proxied/` and `/stricter/` proxies verify
 * tokens, and the second asks for another scope. Below `/service/` the rule has a condition that
 * always holds, so ext-authz verifies them.
 */
export type TokenSite = {
  readonly system: System;
  readonly provider: HostileProvider;
  /** The port of the upstream, which answers with what it got. */
  readonly upstreamPort: number;
  /** Sends the same request on the way of its name. */
  ask(way: 'proxied' | 'service' | 'stricter', fields: Fields, path?: string): Promise<TokenAnswer>;
  /** Returns how many requests ext-authz was asked about so far. */
  checks(): Promise<number>;
  /** Waits until proxies verify this token themselves. */
  untilVerified(token: string): Promise<void>;
  stop(): Promise<void>;
};

export const ISSUER = 'https://idp.test/';
export const AUDIENCE = 'https://api.test';

/** Where the keys are from, and what tokens must say. */
export type TokenIssuer = {
  readonly jwksURI: string;
  readonly issuer: string;
  readonly audience: string;
};

/** Starts one whose tokens are `of` another provider. Default: its own. */
export async function startTokenSite(of?: TokenIssuer): Promise<TokenSite> {
  const provider = await startHostileProvider();
  const own = { jwksURI: `${provider.issuer}/jwks`, issuer: ISSUER, audience: AUDIENCE };
  const upstream = createServer(
    { maxHeaderSize: 131_072 },
    ({ method, rawHeaders, url }, response) => {
      response.end(JSON.stringify({ method, url, rawHeaders }));
    },
  );
  const { close, port } = await listenLocally(upstream);
  const system = await startSystem({
    resources: { 'tokens.yaml': resources(port, of ?? own) },
  });
  const ask: TokenSite['ask'] = async (way, headers, path = 'x') => {
    const answer = await request(system.edge, `/${way}/${path}`, { headers });
    return withoutChance(answer);
  };
  const checks = async () => {
    const base = `http://127.0.0.1:${system.ports.extAuthz}`;
    const { body } = await request(base, '/metrics');
    const counts = [...body.matchAll(/^gateway_ext_authz_checks_total\{.*\} (\d+)$/gm)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  return {
    system,
    provider,
    upstreamPort: port,
    ask,
    checks,
    untilVerified: async token => {
      await until(async () => {
        const before = await checks();
        await ask('proxied', { authorization: `Bearer ${token}` });
        return (await checks()) === before ? true : undefined;
      });
    },
    stop: async () => {
      await system.stop();
      await provider.close();
      await close();
    },
  };
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function withoutChance({
  body,
  headers: { date: _, 'x-envoy-upstream-service-time': __, 'x-request-id': ___, ...headers },
  status,
}: Awaited<ReturnType<typeof request>>): TokenAnswer {
  const same = (text: string) => text.replaceAll(ID, 'id').replaceAll('/proxied/', '/service/');
  return { status, headers: JSON.parse(same(JSON.stringify(headers))), body: same(body) };
}

/** Returns a document of resources. */
export const kind = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

const REQUIRED = `requireIssuer: true, requireAudience: true, requireExpiresAt: true,
  injectRequestHeaders: [{name: X-Sub, value: '{{ .token.Claims.sub }}'}, {name: X-Kind, value: token of a user}]`;

function resources(port: number, { audience, issuer, jwksURI }: TokenIssuer): string {
  const mapping = (name: string, more = '') =>
    kind('Mapping', name, `{prefix: /${name}/, service: "127.0.0.1:${port}"${more}}`);
  const rule = (path: string, more: string, scope = 'read') =>
    `{path: ${path}, filters: [{name: tokens, arguments: {scope: [${scope}]}${more}}]}`;
  const always = ', ifRequestHeader: {name: x-never, negate: true}';
  return [
    mapping('proxied'),
    mapping('service'),
    mapping('stricter'),
    kind(
      'Filter',
      'tokens',
      `{JWT: {jwksURI: "${jwksURI}", issuer: "${issuer}", audience: "${audience}", ${REQUIRED}}}`,
    ),
    kind(
      'FilterPolicy',
      'tokens',
      `{rules: [${rule('/proxied/*', '')}, ${rule('/service/*', always)}, ${rule('/stricter/*', '', 'admin')}]}`,
    ),
  ].join('');
}
