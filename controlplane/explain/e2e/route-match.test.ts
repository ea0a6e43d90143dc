import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { SHARD_HEADER, VALUE_HEADER } from '#controlplane/compile/routes/shard-header.ts';
import { SEVERAL_VALUES } from '#controlplane/compile/routes/value-units.ts';
import { type CutHosts, cutHosts, withShards } from '#controlplane/compile/routes/with-shards.ts';
import { ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import type { ClientRequest } from '../client-request.ts';
import { toEnvoyRequest } from '../envoy-request.ts';
import { listenerSettings } from '../listener-settings.ts';
import { type VirtualHost, virtualHostsOf } from '../route-configuration.ts';
import { matchRoute } from '../route-match.ts';
import { byTenant } from '../testing/by-tenant.ts';
import { everyMatcher } from '../testing/every-matcher.ts';
import { goldenCases, randomCase } from '../testing/golden-cases.ts';
import { randomRequests } from '../testing/random-requests.ts';
import { type RoutingEnvoy, startRoutingEnvoy } from '../testing/routing-envoy.ts';

const CASES = new Map([
  // Plain requests cannot reach what has a listener of TLS alone.
  ...[...goldenCases()].filter(([, compiled]) => listenerSettings(compiled) !== undefined),
  ['every-matcher', everyMatcher()],
  ['by-tenant', byTenant()],
  ...[1, 2, 3].map(seed => [`random-${seed}`, randomCase(seed)] as const),
]);
const REQUESTS = 300;

test('most of the cases have shards when each list is long', () => {
  const cut = [...CASES.values()].filter(compiled => withShards(compiled, 1) !== compiled);
  assert.ok(cut.length > CASES.size / 2, `${cut.length} of ${CASES.size}`);
});

describe('a request meets the route that a real Envoy takes', () => {
  let envoy: RoutingEnvoy;
  let cut: RoutingEnvoy;
  before(async () => {
    const shown = { 'x-path': '%REQ(:path)%' };
    envoy = await startRoutingEnvoy(CASES, shown);
    cut = await startRoutingEnvoy(CASES, shown, 1);
  });
  after(async () => {
    await envoy.stop();
    await cut.stop();
  });

  for (const [seed, [name, compiled]] of [...CASES].entries()) {
    test(`${name}: ${REQUESTS} random requests, with and without shards`, async () => {
      const hosts = virtualHostsOf(compiled);
      const shards = shardsOf(compiled);
      const settings = listenerSettings(compiled);
      assert.ok(settings);
      const outcomes = new Set<string>();
      for (const request of randomRequests(hosts, seed, REQUESTS)) {
        const { status, route, headers } = await envoy.ask(name, request);
        const inShard = await cut.ask(name, {
          ...request,
          headers: [
            ...request.headers,
            { name: SHARD_HEADER, value: '||/' },
            { name: VALUE_HEADER, value: 'red' },
            { name: 'x-envoy-original-path', value: '/' },
          ],
        });
        const asked = toEnvoyRequest(request, settings);
        const found = explained(hosts, asked);
        const seen = { status, route, path: String(headers['x-path'] ?? '') };
        assert.deepEqual(found, seen, JSON.stringify(request));
        const foundInShard = explained(hosts, asked, shards);
        const { several = false, ...told } = foundInShard;
        const seenInShard = {
          status: inShard.status,
          route: inShard.route,
          path: String(inShard.headers['x-path'] ?? ''),
        };
        assert.deepEqual(told, seenInShard, `in a shard: ${JSON.stringify(request)}`);
        if (several) assert.ok(hasTwice(request), JSON.stringify(request));
        else assert.deepEqual(seenInShard, seen, `in a shard: ${JSON.stringify(request)}`);
        outcomes.add(String(status === 200 ? route : status));
      }
      assert.ok(outcomes.size > 1, `only ${[...outcomes]}: this shows little`);
    });
  }
});

function shardsOf(compiled: Compiled): CutHosts | undefined {
  const [table] = compiled.resources.get(ROUTE_CONFIGURATION) ?? [];
  return table && cutHosts(compiled, table.name, 1);
}

function hasTwice({ headers }: ClientRequest): boolean {
  return new Set(headers.map(({ name }) => name)).size < headers.length;
}

function explained(
  hosts: readonly VirtualHost[],
  asked: ReturnType<typeof toEnvoyRequest>,
  shards?: CutHosts,
) {
  if ('status' in asked) return { status: asked.status, route: '', path: '' };
  const match = matchRoute(hosts, asked, shards);
  if (match === undefined) return { status: 404, route: '', path: '' };
  if (match.route.match === SEVERAL_VALUES.match)
    return { status: 400, route: '', path: '', several: true };
  const host = hosts.indexOf(match.virtualHost);
  const route = `${host}/${match.virtualHost.routes.indexOf(match.route)}`;
  return { status: 200, route, path: asked.headers.get(':path')?.[0] };
}
