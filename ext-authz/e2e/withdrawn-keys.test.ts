import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { type HostileProvider, startHostileProvider } from '../testing/hostile-provider.ts';

/** For how long a proxy goes by keys that ext-authz no longer has. */
const PROXY_MS = 10_000;

describe('a signing key that a provider has withdrawn, whose answers may be kept for a day', () => {
  let system: System;
  let provider: HostileProvider;
  let token: string;
  before(async () => {
    [system, provider] = await Promise.all([startSystem(), startHostileProvider()]);
    token = await provider.idToken();
  });
  after(async () => {
    await provider?.close();
    await system?.stop();
  });

  const resources = (more: string) => `apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: tokens }
spec: { JWT: { jwksURI: "${provider.issuer}/jwks"${more} } }
---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: tokens }
spec: { rules: [{ path: /guarded, filters: [{ name: tokens }] }] }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: guarded }
spec: { prefix: /guarded, rewrite: /user/health, service: user-service, resolver: sds }
`;
  const asked = async () =>
    (await request(system.edge, '/guarded', { headers: { authorization: `Bearer ${token}` } }))
      .status;
  const answers = (status: number) => until(async () => (await asked()) === status || undefined);
  const serve = (keys: boolean) =>
    provider.behave('jwks', () => ({
      ...{ headers: { 'cache-control': 'max-age=86400' } },
      body: { keys: keys ? [provider.key.publicJwk] : [] },
    }));

  test('counts until the Filter is edited', async t => {
    serve(true);
    system.write('tokens.yaml', resources(''));
    await answers(200);
    serve(false);
    const end = performance.now() + PROXY_MS + 2_000;
    while (performance.now() < end) assert.equal(await asked(), 200);
    system.write('tokens.yaml', resources(', maxStale: 1s'));
    const from = performance.now();
    await answers(401);
    t.diagnostic(`401 after ${Math.round(performance.now() - from)} ms`);
  });

  test('counts until ext-authz is started again', async t => {
    serve(true);
    system.write('tokens.yaml', resources(', maxStale: 2s'));
    await answers(200);
    serve(false);
    await system.kill('ext-authz');
    const from = performance.now();
    await answers(401);
    t.diagnostic(`401 after ${Math.round(performance.now() - from)} ms`);
  });
});
