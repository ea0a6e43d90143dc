import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JsonObject } from '#protos/json.ts';
import { type AuthorizationStub, startAuthorizationStub } from './authorization-stub.ts';
import { startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';
import { type RateLimitStub, startRateLimitStub } from './rate-limit-stub.ts';

let upstream: Awaited<ReturnType<typeof startEchoServer>>;
let limits: RateLimitStub;
let filters: AuthorizationStub;

before(async () => {
  [upstream, limits, filters] = await Promise.all([
    startEchoServer('up'),
    startRateLimitStub(),
    startAuthorizationStub('/refused/'),
  ]);
  limits.answer({ overall_code: 1 });
});

after(() => Promise.all([upstream.close(), limits.stop(), filters.stop()]));

/** Closed when its service is not reached, so that a decision that is lost shows. */
const resources = () => `apiVersion: getambassador.io/v2
kind: Mapping
metadata: {name: site}
spec: {prefix: /, service: '${upstream.address}', labels: {gateway: [{g: [site]}]}}
---
apiVersion: getambassador.io/v2
kind: RateLimitService
metadata: {name: stub}
spec: {service: '${limits.address}', timeout_ms: 2000, failure_mode_deny: true}
---
apiVersion: getambassador.io/v2
kind: Filter
metadata: {name: login}
spec:
  OAuth2:
    authorizationURL: https://idp.example
    clientID: web
    secret: s
    protectedOrigins: [{origin: 'http://localhost'}]
---
apiVersion: getambassador.io/v2
kind: FilterPolicy
metadata: {name: all}
spec: {rules: [{filters: [{name: login}]}]}
`;

for (const [cluster, asked] of [
  ['ratelimit-service', () => limits.asked()],
  ['ext-authz', () => filters.asked()],
] as const)
  test(`an address of ${cluster} that nobody listens on costs no decision: another is asked at once`, async t => {
    asked();
    const halfDead = await startCompiled(
      resources(),
      'edge',
      bootstrap => withDeadAddress(bootstrap, cluster),
      filters.address,
    );
    t.after(() => halfDead.stop());
    for (let request = 0; request < 20; request++)
      assert.equal((await halfDead.ask('/x')).status, 200);
    assert.equal(asked().length, 20, 'each was decided once');
  });

type Bootstrap = {
  static_resources: {
    clusters: { name: string; load_assignment: { endpoints: [{ lb_endpoints: JsonObject[] }] } }[];
  };
};

/** Returns the bootstrap with a second, dead address of a cluster. */
function withDeadAddress(bootstrap: JsonObject, name: string): JsonObject {
  const changed = structuredClone(bootstrap) as Bootstrap;
  const cluster = changed.static_resources.clusters.find(each => each.name === name);
  assert.ok(cluster);
  const address = { socket_address: { address: '127.0.0.1', port_value: 1 } };
  cluster.load_assignment.endpoints[0].lb_endpoints.push({ endpoint: { address } });
  return changed;
}
