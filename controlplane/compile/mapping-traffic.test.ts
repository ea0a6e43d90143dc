import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closedResource } from '#controlplane/rollout/problems.ts';
import type { JsonObject } from '#protos/json.ts';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { compile } from './compile.ts';
import type { Compiled } from './compiled.ts';
import { Memo } from './memo.ts';
import { EDGE } from './node-groups.ts';
import { resourceSetOf } from './testing/resource-set-of.ts';
import { FUZZ_OPTIONS } from './testing/written.ts';

const document = (kind: string, name: string, spec: object) =>
  `---\n${JSON.stringify({ apiVersion: 'gateway.internal/v2', kind, metadata: { name }, spec })}\n`;
const mapping = (name: string, spec: object) =>
  document('Mapping', name, { prefix: `/${name}/`, service: 'shop', ...spec });
const moduleWith = (config: object) => document('Module', 'gateway', { config });

const setOf = (...documents: readonly string[]): ResourceSet =>
  resourceSetOf(documents.join('')).resources;
const compiled = (resources: ResourceSet, memo = new Memo()) =>
  compile(resources, EDGE, { ...FUZZ_OPTIONS, memo });

/** Returns names of the clusters of the operator's service. */
const clusters = ({ resources }: Compiled) =>
  (resources.get(CLUSTER) ?? []).map(({ name }) => name).filter(name => name.startsWith('shop'));

type Routes = { virtual_hosts: [{ routes: ({ name: string } & JsonObject)[] }] };

function routeOf({ resources }: Compiled, name: string): JsonObject | undefined {
  const json = resources.get(ROUTE_CONFIGURATION)?.[0]?.json as unknown as Routes;
  return json.virtual_hosts[0].routes.find(route => route.name === `Mapping/default/${name}`);
}

const CORS = { origins: '*' };

test('the first cors, of a Mapping or of the Module, leaves the listeners as they are', () => {
  const [none, one, all] = [
    [mapping('a', {})],
    [mapping('a', { cors: CORS })],
    [mapping('a', {}), moduleWith({ cors: CORS })],
  ].map(documents =>
    compiled(setOf(...documents))
      .resources.get(LISTENER)
      ?.map(({ json }) => json),
  );
  assert.equal(none?.length, 1);
  assert.deepEqual(one, none);
  assert.deepEqual(all, none);
});

test('Mappings that use a service in the same way share a cluster, in whatever words', () => {
  const same = [
    mapping('a', {}),
    mapping('b', {
      load_balancer: { policy: 'round_robin' },
      circuit_breakers: [{}],
      keepalive: {},
    }),
    mapping('c', { cluster_max_connection_lifetime_ms: 0, priority: 'default', grpc: false }),
  ];
  assert.deepEqual(clusters(compiled(setOf(...same))), ['shop']);
  const high = { priority: 'high', max_connections: 1 };
  const equal = [
    mapping('a', { circuit_breakers: [high, { max_retries: 3 }] }),
    mapping('b', { circuit_breakers: [{ max_retries: 3, priority: 'default' }, high] }),
  ];
  assert.deepEqual(clusters(compiled(setOf(...equal))), ['shop']);
});

const DIFFERENT: readonly object[] = [
  { load_balancer: { policy: 'maglev' } },
  { circuit_breakers: [{ max_connections: 1 }] },
  { priority: 'high' },
  { cluster_idle_timeout_ms: 4000 },
  { cluster_max_connection_lifetime_ms: 1 },
  { enable_ipv4: false },
  { enable_ipv6: false },
  { respect_dns_ttl: true },
  { grpc: true },
  { keepalive: { time: 1 } },
];
for (const spec of DIFFERENT) {
  test(`a Mapping with ${JSON.stringify(spec)} has a cluster of its own, whose name tells of its settings`, () => {
    const both = clusters(compiled(setOf(mapping('a', {}), mapping('b', spec))));
    assert.equal(both.length, 2);
    for (const name of both) assert.match(name, /^shop~[0-9a-f]{16}$/);
    const again = clusters(compiled(setOf(mapping('x', spec), mapping('y', {}), mapping('z', {}))));
    assert.deepEqual(again, both);
  });
}

test('a route is made anew when a shadow comes, or a default of the Module changes, and only then', () => {
  const memo = new Memo();
  const { mappings } = setOf(mapping('a', {}), mapping('b', { prefix: '/a/', shadow: true }));
  const [a, b] = mappings as [Resource<'Mapping'>, Resource<'Mapping'>];
  const { config } = setOf(moduleWith({ retry_policy: { retry_on: '5xx' } }));
  const made = (change: Partial<ResourceSet>) =>
    routeOf(compiled({ ...setOf(), mappings: [a], ...change }, memo), 'a');
  const plain = made({});
  assert.equal(made({}), plain);
  const shadowed = made({ mappings: [a, b] });
  assert.ok(JSON.stringify(shadowed).includes('request_mirror_policies'));
  assert.equal(made({ mappings: [a, b] }), shadowed);
  const repeated = made({ config });
  assert.ok(JSON.stringify(repeated).includes('5xx'));
  assert.equal(made({ config }), repeated);
  assert.deepEqual(made({}), plain);
});

test("the Module's cors for any origin is not for a Mapping that adds leave for credentials", () => {
  const adding = { add_response_headers: { 'access-control-allow-credentials': 'true' } };
  const withCors = (origins: string) =>
    ['a', 'b'].map(name =>
      JSON.stringify(
        routeOf(
          compiled(
            setOf(mapping('a', adding), mapping('b', {}), moduleWith({ cors: { origins } })),
          ),
          name,
        ),
      ).includes('filters.http.cors'),
    );
  assert.deepEqual(withCors('*'), [false, true]);
  assert.deepEqual(withCors('https://a.example'), [true, true]);
});

test("the Module's changes of headers are for Mappings that do not say them themselves", () => {
  const httpmapping = {
    add_request_headers: { 'x-all': 'a' },
    remove_request_headers: ['x-inner'],
    add_response_headers: { 'x-frame-options': 'DENY' },
  };
  const defaults = {
    httpmapping,
    add_request_headers: { 'x-not': 'b' },
    remove_response_headers: 'x-by',
  };
  const added = (name: string, value: string) => [
    { header: { key: name, value }, append_action: 'APPEND_IF_EXISTS_OR_ADD' },
  ];
  const own = { add_request_headers: { 'x-own': 'c' } };
  const all = compiled(setOf(mapping('a', {}), mapping('b', own), moduleWith({ defaults })));
  for (const [name, request] of Object.entries({
    a: added('x-all', 'a'),
    b: added('x-own', 'c'),
  })) {
    const route = routeOf(all, name);
    assert.deepEqual(route?.request_headers_to_add, request);
    assert.deepEqual(route?.request_headers_to_remove, ['x-inner']);
    assert.deepEqual(route?.response_headers_to_add, added('x-frame-options', 'DENY'));
    assert.deepEqual(route?.response_headers_to_remove, ['x-by']);
  }
});

test('a shadow that Envoy refuses closes nothing', () => {
  const { mappings } = setOf(mapping('a', { shadow: true }), mapping('b', {}));
  const [shadow, served] = mappings.map(closedResource);
  assert.equal(shadow?.match, undefined);
  assert.equal(served?.match?.prefix, '/b/');
});
