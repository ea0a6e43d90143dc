import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '#protos/json.ts';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { collect } from '#resources/parse/collect.ts';
import { createParser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { type ResourceSet, toResourceSet } from '#resources/resource-set.ts';
import { discoveryClusters } from './clusters/discovery-cluster.ts';
import { EXT_AUTHZ_CLUSTER, RATE_LIMIT_CLUSTER } from './clusters/reserved-clusters.ts';
import { compile } from './compile.ts';
import type { Compiled } from './compiled.ts';
import { NO_BACKEND } from './gateways/backend-cluster-name.ts';
import { Memo } from './memo.ts';
import type { CompileOptions } from './options.ts';
import { resourceSetOf } from './testing/resource-set-of.ts';

const OPTIONS: CompileOptions = {
  edge: { host: '127.0.0.1', port: 8080 },
  sds: { host: '127.0.0.1', port: 18003 },
  rateLimit: { host: '127.0.0.1', port: 18002 },
  extAuthz: { host: '127.0.0.1', port: 18001 },
};

const mapping = (name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const setOf = (...documents: readonly string[]): ResourceSet =>
  resourceSetOf(documents.join('')).resources;

/** Returns the routes of the only virtual host, by name. */
function routesOf({ resources }: Compiled): ReadonlyMap<string, JsonObject> {
  const json = resources.get(ROUTE_CONFIGURATION)?.[0]?.json as unknown as {
    virtual_hosts: [{ routes: ({ name: string } & JsonObject)[] }];
  };
  return new Map(json.virtual_hosts[0].routes.map(route => [route.name, route]));
}

const names = ({ resources }: Compiled, typeUrl: string) =>
  (resources.get(typeUrl) ?? [])
    .map(({ name }) => name)
    .filter(name => !OWN_CLUSTERS.includes(name));

const OWN_CLUSTERS: readonly string[] = [EXT_AUTHZ_CLUSTER, RATE_LIMIT_CLUSTER];

const clusterOf = ({ resources }: Compiled, wanted: string) =>
  resources.get(CLUSTER)?.find(({ name }) => name === wanted);

test('the order of documents has no effect', () => {
  const documents = Array.from({ length: 20 }, (_, n) =>
    mapping(
      `m-${n}`,
      `prefix: /${n % 5}/, service: s-${n % 3}, host: h${n % 2}.example.com, weight: 5`,
    ),
  );
  const json = (set: ResourceSet) => JSON.stringify([...compile(set, 'edge', OPTIONS).resources]);
  assert.equal(json(setOf(...documents)), json(setOf(...documents.toReversed())));
});

test('an edit leaves the other routes and clusters the very same objects', () => {
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  const memo = new Memo();
  const compileNext = (...documents: readonly string[]) => {
    const { resources } = collect(parse(new Map([['in.yaml', { text: documents.join('') }]])));
    return compile(toResourceSet(resources.values(), []), 'edge', { ...OPTIONS, memo });
  };
  const kept = mapping('a', 'prefix: /a/, service: a');
  const before = compileNext(kept, mapping('b', 'prefix: /b/, service: b'));
  // It also moves to another line.
  const after = compileNext(mapping('b', 'prefix: /b/, service: c'), kept);
  assert.equal(routesOf(after).get('Mapping/default/a'), routesOf(before).get('Mapping/default/a'));
  assert.notEqual(
    routesOf(after).get('Mapping/default/b'),
    routesOf(before).get('Mapping/default/b'),
  );
  assert.equal(clusterOf(after, 'a')?.json, clusterOf(before, 'a')?.json);
});

test('Mappings that share a route, of which one comes, changes and goes, have the same route as without a memo', () => {
  const memo = new Memo();
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  const stable = mapping('m', 'prefix: /, service: a');
  for (const canary of [
    'service: b, weight: 10',
    'service: b, weight: 20',
    'service: "https://a"',
    undefined,
  ]) {
    const text = stable + (canary === undefined ? '' : mapping('n', `prefix: /, ${canary}`));
    const { resources } = collect(parse(new Map([['in.yaml', { text }]])));
    const set = toResourceSet(resources.values(), []);
    assert.deepEqual(compile(set, 'edge', { ...OPTIONS, memo }), compile(set, 'edge', OPTIONS));
  }
});

test('a memo changes nothing of the result', () => {
  const memo = new Memo();
  for (const service of ['a', 'b', 'https://b', 'b:8080', 'a']) {
    const set = setOf(
      mapping('m', `prefix: /, service: '${service}'`),
      mapping('n', 'prefix: /n/, service: b'),
    );
    assert.deepEqual(compile(set, 'edge', { ...OPTIONS, memo }), compile(set, 'edge', OPTIONS));
  }
});

test('a cluster keeps its name and content when Mappings that it does not serve come and go', () => {
  const own = mapping('own', 'prefix: /own/, service: store');
  const alone = compile(setOf(own), 'edge', OPTIONS);
  const beside = compile(setOf(own, mapping('a', 'prefix: /a/, service: other')), 'edge', OPTIONS);
  assert.deepEqual(clusterOf(beside, 'store'), clusterOf(alone, 'store'));
});

test('where settings differ under one name, no cluster keeps the plain name', () => {
  const http = mapping('a', 'prefix: /a/, service: store');
  const https = mapping('b', 'prefix: /b/, service: "https://store"');
  const both = names(compile(setOf(http, https), 'edge', OPTIONS), CLUSTER);
  assert.equal(both.length, 2);
  assert.ok(
    both.every(name => /^store~[0-9a-f]{16}$/.test(name)),
    both.join(),
  );
});

test('nobody finds settings that have the name of a cluster with others', () => {
  const https = mapping('a', 'prefix: /a/, service: "https://pay.shop"');
  // By a hash of 32 bits both had one name. These numbers were found in a second.
  const found = 'connect_timeout_ms: 122384, cluster_idle_timeout_ms: 10609';
  const http = mapping('b', `prefix: /b/, service: "http://pay.shop", ${found}`);
  assert.equal(new Set(names(compile(setOf(https, http), 'edge', OPTIONS), CLUSTER)).size, 2);
});

const HOSTS = "hosts: [{url: 'tcp://a.test:80'}]";

test('each declared cluster has a name of its own, and none that the compiler makes', () => {
  const declared = ['sds', 'sds~', 'sds~~', NO_BACKEND, 'Service/shop/pay:80', 'a~01ab', 'b@c:80'];
  const clusters = declared.map(name => `{name: '${name}', type: strict_dns, ${HOSTS}}`).join();
  const set = setOf(`---
apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: {name: edge}
spec: {node_group: edge, clusters: [${clusters}]}
`);
  const made = names(compile(set, 'edge', OPTIONS), CLUSTER);
  assert.equal(made.length, declared.length);
  assert.ok(
    made.every(name => name.endsWith('~')),
    made.join(),
  );
});

test('each message names the resources that it comes from', () => {
  const set = setOf(
    mapping('a', 'prefix: /a/, service: s'),
    mapping('b', 'prefix: /b/, service: s'),
    mapping('c', 'prefix: /c/, service: "ftp://x"'),
  );
  const compiled = compile(set, 'edge', OPTIONS);
  const ids = ['Mapping/default/a', 'Mapping/default/b'];
  assert.deepEqual(clusterOf(compiled, 's')?.origins, ids);
  assert.deepEqual(compiled.resources.get(ROUTE_CONFIGURATION)?.[0]?.origins, [
    ...ids,
    'Mapping/default/c',
  ]);
});

const PROXY_CONFIG = (port: number) => `---
apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: {name: edge}
spec:
  node_group: edge
  clusters: [{name: users, type: sds}]
  cluster_manager: {sds: {cluster: {name: own, type: static, hosts: [{url: 'tcp://10.0.0.5:${port}'}]}, refresh_delay_ms: 500}}
`;

test('a discovery service that the running proxies do not know is a Problem, and its clusters have no members', () => {
  const set = setOf(PROXY_CONFIG(80));
  const [bootstrapped] = discoveryClusters(set, 'edge', OPTIONS.sds).map(({ name }) =>
    String(name),
  );
  assert.equal(bootstrapped, 'own@10.0.0.5:80-rest');
  const running = new Set([bootstrapped]);

  const known = compile(set, 'edge', { ...OPTIONS, discoveryClusters: running });
  assert.deepEqual(known.problems, []);
  assert.equal(clusterOf(known, 'users')?.json.type, 'EDS');

  const edited = compile(setOf(PROXY_CONFIG(81)), 'edge', {
    ...OPTIONS,
    discoveryClusters: running,
  });
  assert.match(edited.problems[0]?.message ?? '', /gateway bootstrap edge/);
  assert.equal(clusterOf(edited, 'users')?.json.type, 'STATIC');
});

test('without any resource the edge listens, other node groups do not', () => {
  assert.deepEqual(names(compile(setOf(), 'edge', OPTIONS), LISTENER), ['127.0.0.1:8080']);
  assert.deepEqual(names(compile(setOf(), 'sidecar', OPTIONS), LISTENER), []);
});

test("the demo's resources have no Problem", () => {
  const file = join(import.meta.dirname, '../../envoy/resources/user-service.yaml');
  const { resources, problems } = resourceSetOf(readFileSync(file, 'utf8'));
  const compiled = compile(resources, 'edge', OPTIONS);
  assert.deepEqual([...problems, ...compiled.problems], []);
  assert.deepEqual(names(compiled, CLUSTER), ['user-service']);
});

test('a Mapping with `bypass_auth` takes no Filters from another one that shares its route', () => {
  const either = (name: string, more = '') =>
    mapping(name, `prefix: /can/, service: ${name}, weight: 50${more}`);
  const policy = `---\napiVersion: gateway.internal/v2\nkind: FilterPolicy\nmetadata: {name: p}\nspec: {rules: [{path: /can/*, filters: [{name: gone}]}]}\n`;
  const first = (...documents: readonly string[]) => {
    const compiled = compile(setOf(...documents, policy), 'edge', OPTIONS);
    const warned = compiled.problems.filter(({ field }) => field === 'spec.bypass_auth');
    const served = [...routesOf(compiled).keys()].filter(name => name.startsWith('Mapping/'));
    return [...new Set(served), ...warned.map(({ name }) => name)];
  };
  const bypass = ', bypass_auth: true';
  assert.deepEqual(first(either('a', bypass), either('b')), ['Mapping/default/b', 'a']);
  assert.deepEqual(first(either('a'), either('b', bypass)), ['Mapping/default/a', 'b']);
  assert.deepEqual(first(either('a', bypass), either('b', bypass)), [
    'Mapping/default/a',
    'a',
    'b',
  ]);
});

test('no Mapping lifts the limits of another one that shares its route', () => {
  const [one, other] = ['one', 'other'].map(group => `labels: {gateway: [{g: [${group}]}]}`);
  const bypass = 'bypass_auth: true';
  const labelled = (...mores: readonly string[]) => {
    const documents = mores.map((more, at) =>
      mapping(`m${at}`, `prefix: /can/, service: s${at}, weight: 30, ${more}`),
    );
    const compiled = compile(setOf(...documents), 'edge', OPTIONS);
    const [[name, route] = []] = [...routesOf(compiled)].filter(([name]) => /^Mapping/.test(name));
    const values = [...JSON.stringify(route).matchAll(/descriptor_value":"(\w+)/g)];
    const warned = compiled.problems.filter(({ field }) => field === 'spec.labels');
    return [name, ...values.map(([, value]) => value), ...warned.map(({ name }) => name)];
  };
  assert.deepEqual(labelled(`${bypass}, ${one}`, ''), ['Mapping/default/m1', 'one', 'm1']);
  assert.deepEqual(labelled('', `${one}`), ['Mapping/default/m0', 'one', 'm0']);
  assert.deepEqual(labelled('labels: {gateway: []}', `${one}`), [
    'Mapping/default/m0',
    'one',
    'm0',
  ]);
  assert.deepEqual(labelled(`${one}`, ''), ['Mapping/default/m0', 'one', 'm1']);
  assert.deepEqual(labelled(`${one}`, `${one}`), ['Mapping/default/m0', 'one']);
  assert.deepEqual(labelled(`${other}`, `${one}`), ['Mapping/default/m0', 'other', 'm1']);
  assert.deepEqual(labelled('', ''), ['Mapping/default/m0']);
  const domains = [`${one}`, 'labels: {ambassador: [{g: [two]}]}'] as const;
  assert.deepEqual(labelled(...domains), ['Mapping/default/m0', 'one', 'two', 'm0', 'm1']);
});
