import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';

/** The only spec of a file, which must be without a Problem. */
function specOf(kind: string, metadata: string, spec: string): unknown {
  const text = `apiVersion: getambassador.io/v2\nkind: ${kind}\nmetadata: {name: a${metadata}}\nspec: {${spec}}\n`;
  const { problems, resources } = parseFile('a.yaml', text, DEFAULT_PARSE_OPTIONS);
  assert.deepEqual(problems, []);
  return resources[0]?.spec;
}

const hostOf = (metadata: string, service: string, more = '') => {
  const spec = specOf('Mapping', metadata, `prefix: /, service: '${service}'${more}`);
  return (spec as { service: { host: string } }).service.host;
};

/** What a Mapping writes → which host that is in namespace `foo`, and where none is written. */
const NAMES: readonly (readonly [service: string, inFoo: string, without: string])[] = [
  ['b', 'b.foo', 'b'],
  ['B', 'b.foo', 'b'],
  ['b:8080', 'b.foo', 'b'],
  ['http://b', 'b.foo', 'b'],
  ['https://b:8443', 'b.foo', 'b'],
  ['my_service', 'my_service.foo', 'my_service'],
  ['b.bar', 'b.bar', 'b.bar'],
  ['b.foo', 'b.foo', 'b.foo'],
  ['b.foo.svc.cluster.local', 'b.foo.svc.cluster.local', 'b.foo.svc.cluster.local'],
  ['example.com', 'example.com', 'example.com'],
  ['localhost:8080', 'localhost', 'localhost'],
  ['127.0.0.1:8080', '127.0.0.1', '127.0.0.1'],
  ['[::1]:8080', '::1', '::1'],
];

for (const [service, inFoo, without] of NAMES) {
  test(`the service ${service} is ${inFoo} in namespace foo, and ${without} without a namespace`, () => {
    for (const resolver of ['kubernetes-service', 'endpoint']) {
      assert.equal(hostOf(', namespace: foo', service, `, resolver: ${resolver}`), inFoo);
      assert.equal(hostOf('', service, `, resolver: ${resolver}`), without);
    }
  });
}

test('a namespace that is written counts, also `default`', () => {
  assert.equal(hostOf(', namespace: default', 'b'), 'b.default');
});

test('a shadow gets copies in its own namespace', () => {
  assert.equal(hostOf(', namespace: foo', 'b', ', shadow: true'), 'b.foo');
});

test('a redirect names no service', () => {
  assert.equal(hostOf(', namespace: foo', 'b', ', host_redirect: true'), 'b');
});

test('a RateLimitService names a service of its namespace', () => {
  const spec = specOf('RateLimitService', ', namespace: foo', "service: 'limits:8081'");
  const { host, port } = (spec as { service: { host: string; port: number } }).service;
  assert.deepEqual([host, port], ['limits.foo', 8081]);
});

test('a cluster of a ProxyConfig that is discovered is a service of its namespace', () => {
  const clusters = [
    '{name: b, type: sds}',
    "{name: c, type: sds, service_name: 'd:http'}",
    '{name: e, type: sds, service_name: e.bar}',
    "{name: f, type: strict_dns, hosts: [{url: 'tcp://f:80'}]}",
  ];
  const spec = specOf(
    'ProxyConfig',
    ', namespace: foo',
    `node_group: x, clusters: [${clusters.join()}]`,
  );
  const { clusters: read } = spec as {
    clusters: readonly {
      name: string;
      service_name?: string;
      hosts: readonly { host: string }[];
    }[];
  };
  assert.deepEqual(
    read.map(({ hosts, name, service_name }) => [name, service_name ?? hosts[0]?.host]),
    [
      ['b', 'b.foo'],
      ['c', 'd.foo:http'],
      ['e', 'e.bar'],
      ['f', 'f'],
    ],
  );
});
