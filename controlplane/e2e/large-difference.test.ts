import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { credentials } from '@grpc/grpc-js';
import { startControlPlane } from '#envoy/e2e/control-plane-process.ts';
import { request } from '#envoy/e2e/request.ts';
import { until } from '#envoy/e2e/until.ts';
import { after as later } from '#process/after.ts';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION, VIRTUAL_HOST } from '#protos/type-url.ts';
import { connect } from '#xds/client.ts';

const mapping = (index: number) => `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: m${index} }
spec: { host: shop-${index % 100}.test, prefix: /path-${index}/, service: "service-${index % 500}:8080" }
`;
const rule = (index: number) =>
  `{ host: shop-${index % 100}.test, path: /path-${index}/*, filters: [{ name: login }] }`;
const POLICY = `apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: login }
spec: { JWT: { jwksURI: 'https://idp.test/keys' } }
---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: site }
spec: { rules: [${Array.from({ length: 200 }, (_, index) => rule(index)).join()}] }
`;

test('proxies and probes are answered while a difference over 10,000 Mappings is made', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'difference-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const all = [POLICY, ...Array.from({ length: 10_000 }, (_, index) => mapping(index))];
  writeFileSync(join(folder, 'all.yaml'), all.join('---\n'));
  const plane = await startControlPlane({
    resources: folder,
    state: join(folder, 'state'),
    edge: '127.0.0.1:1',
  });
  t.after(() => plane.stop());
  await until(
    async () => (await request(plane.http, '/readyz')).status === 200 || undefined,
    120_000,
  );
  const order: string[] = [];
  const difference = fetch(`${plane.http}/diff`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      files: [{ name: 'new.yaml', text: mapping(10_000) }],
      remove: ['FilterPolicy/default/site'],
    }),
  }).then(async response => {
    order.push('difference');
    return { status: response.status, body: await response.text() };
  });
  const listening = Promise.withResolvers<void>();
  const proxy = connect({
    address: plane.xds,
    credentials: credentials.createInsecure(),
    node: { id: 'edge-1', cluster: 'edge' },
    typeUrls: [CLUSTER, ROUTE_CONFIGURATION, LISTENER, VIRTUAL_HOST],
    random: Math.random,
    after: later,
    onUpdate: update => {
      update.ack();
      listening.resolve();
    },
  });
  t.after(() => proxy.close());
  await listening.promise;
  await until(async () => {
    const { body } = await request(plane.http, '/status');
    return JSON.parse(body).proxies[0]?.standing === 'settled' || undefined;
  }, 60_000);
  order.push('proxy');
  let probes = 0;
  let longest = 0;
  while (!order.includes('difference')) {
    const begun = performance.now();
    await request(plane.http, '/healthz');
    longest = Math.max(longest, performance.now() - begun);
    probes += 1;
  }
  const { status, body } = await difference;
  assert.equal(status, 200, body);
  const { access, routes } = JSON.parse(body);
  assert.deepEqual([access.length > 0, routes.length], [true, 1]);
  t.diagnostic(`${probes} probes, the longest took ${Math.round(longest)} ms`);
  assert.deepEqual(order, ['proxy', 'difference']);
  assert.ok(probes > 100, `${probes} probes`);
});
