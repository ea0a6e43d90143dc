import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER } from '#protos/type-url.ts';
import { compile } from '../compile.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';

const ADDRESS = { host: '127.0.0.1', port: 8080 };

const document = (kind: string, namespace: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${kind.toLowerCase()}${namespace}}\nspec: {${spec}}\n`.replace(
    '}\nspec',
    `${namespace === '' ? '' : `, namespace: ${namespace}`}}\nspec`,
  );

const DECLARED =
  "node_group: edge, clusters: [{name: b, type: static, hosts: [{url: 'tcp://127.0.0.1:1'}]}]";

/** Returns names of the clusters of services. */
function clustersOf(mapping: string, proxyConfig: string, service: string): readonly string[] {
  const text =
    document('Mapping', mapping, `prefix: /, service: ${service}`) +
    document('ProxyConfig', proxyConfig, DECLARED);
  const { problems, resources } = resourceSetOf(text);
  assert.deepEqual(problems, []);
  const options = { edge: ADDRESS, sds: ADDRESS, rateLimit: ADDRESS, extAuthz: ADDRESS };
  const clusters = compile(resources, 'edge', options).resources.get(CLUSTER) ?? [];
  return clusters.map(({ name }) => name).filter(name => /^b\b/.test(name));
}

for (const [mapping, proxyConfig, service, clusters] of [
  ['', '', 'b', ['b']],
  ['foo', 'foo', 'b', ['b']],
  ['foo', 'foo', 'b.foo', ['b']],
  ['foo', 'bar', 'b', ['b', 'b.foo']],
  ['foo', '', 'b', ['b', 'b.foo']],
  ['foo', 'bar', 'b.bar', ['b', 'b.bar']],
  ['foo', 'foo', 'b.bar', ['b', 'b.bar']],
] as const) {
  test(`${service} of namespace "${mapping}" beside a cluster b of "${proxyConfig}": ${clusters.join()}`, () => {
    assert.deepEqual(clustersOf(mapping, proxyConfig, service), clusters);
  });
}
