import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mappingCluster } from '#controlplane/compile/clusters/mapping-cluster.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import { startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { until } from '#envoy/e2e/until.ts';
import type { JsonObject } from '#protos/json.ts';
import { startSds } from '../testing/sds-process.ts';

/**
 * Envoy asks for the endpoints of each by a stream of its own, and by default lets 1,024 requests
 * be under way to a cluster.
 */
const SERVICES = Array.from({ length: 1_100 }, (_, at) => `service-${at}`);

test('an Envoy with our bootstrap gets the instances of more than a thousand services', async t => {
  const members = SERVICES.map((name, at) => [name, [{ address: '127.0.0.1', port: 20_000 + at }]]);
  const sds = await startSds(t, JSON.stringify({ services: Object.fromEntries(members) }));
  const envoy = await startEnvoy(withClusters(`127.0.0.1:${sds.port}`));
  t.after(() => envoy.stop());
  const found = async (filter: string) => {
    const lines = (await envoy.get(`/clusters?filter=${filter}`)).matchAll(
      /^(.*)::127\.0\.0\.1:\d+::cx_active/gm,
    );
    return new Set([...lines].map(([, name]) => name)).size;
  };
  // All are not looked for again and again: Envoy has other things to do.
  await until(async () => ((await found('^service-10..$')) === 100 ? true : undefined), 60_000);
  await until(
    async () => ((await found('^service-')) === SERVICES.length ? true : undefined),
    60_000,
  );
});

/** Our bootstrap, with clusters that it would get from the control plane. */
function withClusters(sdsAddress: string): JsonObject {
  const options = { nodeId: 'edge-1', group: 'edge', xdsAddress: '127.0.0.1:1', sdsAddress };
  const json = bootstrap(options);
  const { clusters } = json.static_resources as { clusters: JsonObject[] };
  return {
    node: json.node,
    static_resources: { clusters: [...clusters, ...SERVICES.map(discovered)] },
  } as JsonObject;
}

function discovered(name: string): JsonObject {
  const yaml = `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {prefix: /, service: ${name}, resolver: sds}\n`;
  const [mapping] = resourceSetOf(yaml).resources.mappings;
  assert.ok(mapping);
  const tls = { caFile: '', hop: { isDefault: false, trustDomain: 'test' } };
  const { '@type': _, ...cluster } = mappingCluster(name, mapping.spec, tls, undefined);
  return cluster;
}
