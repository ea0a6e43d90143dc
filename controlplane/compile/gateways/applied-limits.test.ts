import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_CONTROLLER } from '#controlplane/gateway-api/gateway-options.ts';
import { LISTENER, RATE_LIMIT } from '#protos/type-url.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { nodeGroups } from '../all-node-groups.ts';
import { compile } from '../compile.ts';
import { Memo } from '../memo.ts';
import { RATELIMIT_SERVICE } from '../node-groups.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';

const OPTIONS = {
  edge: { host: '127.0.0.1', port: 8080 },
  sds: { host: '127.0.0.1', port: 18003 },
  rateLimit: { host: '127.0.0.1', port: 18002 },
  extAuthz: { host: '127.0.0.1', port: 18001 },
};

/** A limit by a header, which it also sets one by. */
const LIMITED = `---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: m }
spec: { prefix: /, service: s, labels: { gateway: [{ g: [{ client: { header: x-client } }] }] } }
---
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: a }
spec:
  domain: gateway
  limits:
  - pattern: [{ client: "*" }]
    rate: 1
    unit: day
    injectRequestHeaders: [{ name: x-tier, value: ours }]
`;
/** It has the same key for a path, and reads the header that the other sets. */
const OF_SHOP = `---
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: b }
spec:
  targetRefs: [{ kind: HTTPRoute, name: shop }]
  limits:
  - labels: [{ client: { path: true } }, { tier: { header: x-tier } }]
    rate: 1
    unit: day
    injectRequestHeaders: [{ name: x-other, value: b }]
`;
const shop = (parent: string) => `---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: c }
spec: { controllerName: ${DEFAULT_CONTROLLER} }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: g }
spec: { gatewayClassName: c, listeners: [{ name: l, port: 8000, protocol: HTTP }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: shop }
spec: { parentRefs: [{ name: ${parent} }], rules: [{ backendRefs: [{ name: s, port: 80 }] }] }
`;

const OTHER = `---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: other }
spec: { gatewayClassName: c, listeners: [{ name: l, port: 8001, protocol: HTTP }] }
`;

/** Returns what the service gets of the limit `a`, and the headers that the edge removes. */
function compiled(text: string) {
  const { resources } = resourceSetOf(LIMITED + text);
  const of = (group: string, typeUrl: string) =>
    compile(resources, group, OPTIONS).resources.get(typeUrl) ?? [];
  const limits = of(RATELIMIT_SERVICE, RATE_LIMIT);
  const listeners = JSON.stringify(of('edge', LISTENER));
  return {
    limits: limits.map(({ name }) => name),
    a: limits.find(({ name }) => name === 'default/a')?.json,
    removed: ['x-tier', 'x-other'].filter(name => listeners.includes(`"${name}"`)),
  };
}

const alone = compiled('');

test('a limit sets its header, and the edge removes that of clients', () => {
  assert.match(JSON.stringify(alone.a), /"name":"x-tier"/);
  assert.deepEqual(alone.removed, ['x-tier']);
});

for (const [what, text] of [
  ['whose target is not there', ''],
  ['whose target no Gateway here has', shop('elsewhere')],
] as const)
  test(`a RateLimit ${what} changes nothing of others, and is known to the service`, () => {
    const both = compiled(OF_SHOP + text);
    assert.deepEqual(both.a, alone.a);
    assert.deepEqual(both.removed, alone.removed);
    assert.deepEqual(both.limits, ['default/a', 'default/b']);
  });

test('once a route meets it, its labels hold in the whole domain', () => {
  const both = compiled(OF_SHOP + shop('g'));
  assert.deepEqual(both.a?.path_keys, ['client']);
  assert.doesNotMatch(JSON.stringify(both.a), /x-tier/);
  assert.deepEqual(both.removed, ['x-other']);
});

test('from then on the proxies of other Gateways remove its header too, though nothing of theirs has changed', () => {
  const { resources } = resourceSetOf(OF_SHOP + shop('g') + OTHER);
  const gateways = {
    controller: DEFAULT_CONTROLLER,
    sharedEdge: false,
    apiGroups: DEFAULT_PARSE_OPTIONS.apiGroups,
  };
  const memory = { shared: new Memo(), memo: new Memo(), gateways };
  const group = nodeGroups(resources, memory).find(name => name.startsWith('default-other-'));
  const removes = (httpRoutes: typeof resources.httpRoutes) => {
    const now = { ...resources, httpRoutes };
    const { resources: found } = compile(now, group ?? '', { ...OPTIONS, ...memory });
    return JSON.stringify(found.get(LISTENER)).includes('"x-other"');
  };
  const { httpRoutes } = resources;
  assert.deepEqual([removes([]), removes(httpRoutes), removes([])], [false, true, false]);
});
