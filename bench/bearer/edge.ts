import { compile } from '#controlplane/compile/compile.ts';
import { type CompiledEnvoy, startCompiled } from '#controlplane/compile/e2e/compiled-envoy.ts';
import {
  TOKEN_MEMORY,
  TOKENS,
  tokenVerifier,
} from '#controlplane/compile/ext-authz/token-filters.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { goodClaims, signer } from '#envoy/e2e/odd-tokens.ts';
import { AUDIENCE, ISSUER, kind } from '#envoy/e2e/token-site.ts';
import { makeSigningKey } from '#ext-authz/testing/hostile-provider.ts';
import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';

export type BearerEdge = { readonly envoy: CompiledEnvoy; readonly token: string };

const ANYWHERE = { host: '127.0.0.1', port: 18_001 };
const OPTIONS = { edge: ANYWHERE, sds: ANYWHERE, rateLimit: ANYWHERE, extAuthz: ANYWHERE };

/**
 * Starts an edge that answers all requests itself. On `tokens.test` it verifies tokens first, and
 * on `alone.test` nothing decides. The keys stand in its configuration.
 */
export async function startBearerEdge(): Promise<BearerEdge> {
  const { kid, privateKey, publicJwk } = await makeSigningKey('first');
  const { tokens = [] } = compile(resourceSetOf(RESOURCES).resources, 'edge', OPTIONS);
  const keys = new Map(tokens.map(({ name }) => [name, [JSON.stringify(publicJwk)]]));
  const verifier = tokenVerifier(tokens, keys);
  const envoy = await startCompiled(
    RESOURCES,
    'edge',
    bootstrap => answering(bootstrap, verifier) as JsonObject,
  );
  const now = Math.floor(Date.now() / 1_000);
  const claims = { ...goodClaims(now), exp: now + 86_400 };
  return { envoy, token: await signer(privateKey)({ alg: 'RS256', kid }, claims) };
}

/** Puts the keys in, and answers in place of services. */
function answering(json: Json, verifier: JsonObject): Json {
  if (Array.isArray(json)) return json.map(item => answering(item as Json, verifier));
  if (!isJsonObject(json)) return json;
  if (json.config_discovery !== undefined) {
    const { name = '' } = json;
    return { name, disabled: true, typed_config: name === TOKENS ? verifier : TOKEN_MEMORY };
  }
  const { access_log: _, route, ...rest } = json;
  const entries = Object.entries(rest).map(([key, value]) => [
    key,
    answering(value as Json, verifier),
  ]);
  const own = Object.fromEntries(entries) as JsonObject;
  const isRoute = isJsonObject(route) && isJsonObject(json.match);
  if (isRoute) return { ...own, direct_response: { status: 200, body: { inline_string: 'ok' } } };
  return route === undefined ? own : { ...own, route: answering(route, verifier) };
}

const RESOURCES = [
  kind('Mapping', 'alone', '{host: alone.test, prefix: /, service: nowhere}'),
  kind('Mapping', 'tokens', '{host: tokens.test, prefix: /, service: nowhere}'),
  kind(
    'Filter',
    'tokens',
    `{JWT: {jwksURI: http://127.0.0.1:1/jwks, issuer: "${ISSUER}", audience: "${AUDIENCE}",
      requireIssuer: true, requireAudience: true, requireExpiresAt: true,
      injectRequestHeaders: [{name: X-Sub, value: '{{ .token.Claims.sub }}'}]}}`,
  ),
  kind(
    'FilterPolicy',
    'tokens',
    '{rules: [{host: tokens.test, filters: [{name: tokens, arguments: {scope: [read]}}]}]}',
  ),
].join('');
