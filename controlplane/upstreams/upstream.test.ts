import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '#controlplane/compile/compile.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { CLASS, gateway, object } from '#controlplane/gateway-api/testing/documents.ts';
import { type Upstream, upstreamsOf } from './upstream.ts';
import { upstreamField } from './upstream-field.ts';

const ADDRESS = { host: '127.0.0.1', port: 1 };
const OPTIONS = {
  edge: ADDRESS,
  sds: ADDRESS,
  rateLimit: ADDRESS,
  extAuthz: ADDRESS,
  caFile: '/ca.pem',
};

/**
 * Returns the named cluster, or the only one of a resource, and the field that says where it is.
 */
function upstreamOf(kind: string, spec: string, name?: string) {
  const text = `apiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: m}\nspec: {${spec}}\n${CONTEXT}`;
  const { resources } = resourceSetOf(text);
  const found = upstreamsOf('edge', compile(resources, 'edge', OPTIONS));
  const upstream = found.find(({ cluster, origins }) =>
    name === undefined ? origins[0] === `${kind}/default/m` : cluster === name,
  );
  const [resource] = [...resources.mappings, ...resources.proxyConfigs];
  assert.ok(upstream !== undefined && resource !== undefined, JSON.stringify(found));
  return { upstream, field: upstreamField(resource, upstream) };
}

const SUBJECT = { subjects: ['a.test'], sni: 'a.test', alpn: ['http/1.1'] };
const CONTEXT = `---
apiVersion: gateway.internal/v2
kind: TLSContext
metadata: {name: c}
spec: {cacert_chain_file: /own.pem, sni: b.test}
`;

const MAPPINGS: readonly [spec: string, expected: Partial<Upstream>][] = [
  ['service: 127.0.0.1:90', { hosts: [{ host: '127.0.0.1', port: 90 }] }],
  ['service: a.test', { hosts: [{ host: 'a.test', port: 80 }] }],
  ['service: a.test, enable_ipv6: false', { family: 4 }],
  ['service: a.test, enable_ipv4: false, enable_ipv6: true', { family: 6 }],
  ['service: shop, resolver: sds', { hosts: [], discovered: 'shop' }],
  ['service: "shop:8080", resolver: sds', { hosts: [], discovered: 'shop:8080' }],
  ['service: "https://a.test"', { tls: { ...SUBJECT, authorities: { file: '/ca.pem' } } }],
  [
    'service: "https://127.0.0.1"',
    { tls: { subjects: ['127.0.0.1'], alpn: ['http/1.1'], authorities: { file: '/ca.pem' } } },
  ],
  [
    'service: a.test, tls: c',
    {
      tls: {
        ...{ subjects: ['b.test'], sni: 'b.test', alpn: ['http/1.1'] },
        authorities: { secret: 'authorities-file/TLSContext/default/c' },
      },
    },
  ],
  ['service: shop, hop_tls: true', { tls: 'hop' }],
  [
    'service: shop, health_checks: [{interval: 1h, health_check: {tcp: {}}}]',
    { checkMs: 3_600_000 },
  ],
  ['service: shop, health_checks: [{health_check: {tcp: {}}}]', { checkMs: 5_000 }],
];

for (const [spec, expected] of MAPPINGS) {
  test(`a Mapping with ${spec} goes to ${JSON.stringify(expected)}`, () => {
    const { field, upstream } = upstreamOf('Mapping', `prefix: /, ${spec}`);
    assert.deepEqual({ ...upstream, ...expected }, upstream);
    assert.equal(field, 'spec.service');
  });
}

test('a BackendTLSPolicy says whose certificate counts, and by which authority', () => {
  const route = 'parentRefs: [{name: g}], rules: [{backendRefs: [{name: shop, port: 443}]}]';
  const policy = (names: string) =>
    `targetRefs: [{group: '', kind: Service, name: shop}], validation: {hostname: a.test, wellKnownCACertificates: System, subjectAltNames: [${names}]}`;
  const tlsOf = (names: string) => {
    const { resources } = resourceSetOf(
      CLASS +
        gateway('g', 'listeners: [{name: http, port: 80, protocol: HTTP}]') +
        object('HTTPRoute', 'r', route) +
        object('BackendTLSPolicy', 'p', policy(names)),
    );
    const found = upstreamsOf('edge', compile(resources, 'edge', OPTIONS));
    return found.find(({ cluster }) => cluster === 'Service/infra/shop:443')?.tls;
  };
  const system = { alpn: ['http/1.1'], sni: 'a.test', authorities: { file: '/ca.pem' } };
  assert.deepEqual(tlsOf(''), { ...system, subjects: ['a.test'] });
  assert.deepEqual(
    tlsOf('{type: Hostname, hostname: b.test}, {type: Hostname, hostname: c.test}'),
    { ...system, subjects: ['b.test', 'c.test'] },
  );
  assert.equal(tlsOf('{type: URI, uri: "spiffe://a/b"}'), 'hop');
});

const CLUSTERS: readonly [cluster: string, field: string, expected: Partial<Upstream>][] = [
  [
    'name: b, type: static, hosts: [{url: "tcp://127.0.0.1:9"}]',
    'spec.clusters[1].hosts',
    { hosts: [{ host: '127.0.0.1', port: 9 }] },
  ],
  ['name: b, type: sds', 'spec.clusters[1].name', { discovered: 'b' }],
  [
    'name: b, type: sds, service_name: shop',
    'spec.clusters[1].service_name',
    { discovered: 'shop' },
  ],
  [
    'name: ext-authz, type: strict_dns, hosts: [{url: "tcp://a.test:9"}]',
    'spec.clusters[1].hosts',
    { cluster: 'ext-authz~', hosts: [{ host: 'a.test', port: 9 }] },
  ],
];

for (const [cluster, field, expected] of CLUSTERS) {
  test(`a ProxyConfig with {${cluster}} goes to ${JSON.stringify(expected)}`, () => {
    const spec = `node_group: edge, clusters: [{name: a, type: static, hosts: [{url: "tcp://127.0.0.1:8"}]}, {${cluster}}]`;
    const { field: found, upstream } = upstreamOf('ProxyConfig', spec, expected.cluster ?? 'b');
    assert.deepEqual({ ...upstream, ...expected }, upstream);
    assert.equal(found, field);
  });
}
