import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrap } from '#envoy/bootstrap.ts';
import { startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { until } from '#envoy/e2e/until.ts';
import { serve } from '#grpc/serve.ts';
import { decodeMetrics } from '../decode-metrics.ts';
import type { FigureCall } from '../figure-stream.ts';
import { FIGURES_DEFINITIONS } from '../figures-service.ts';

/** So many clusters need more than one message. */
const CLUSTERS = 500;

const cluster = (number: number) => ({
  name: `shop-${number}`,
  connect_timeout: '1s',
  load_assignment: {
    cluster_name: `shop-${number}`,
    endpoints: [
      {
        lb_endpoints: [
          { endpoint: { address: { socket_address: { address: '127.0.0.1', port_value: 1 } } } },
        ],
      },
    ],
  },
});

test('an Envoy sends all counts of a moment before all gauges, over several messages', async t => {
  const moments = new Map<number, string[]>();
  let messages = 0;
  const read = (bytes: Buffer) => {
    messages += 1;
    const take = (kind: string) => (name: string, _value: number, moment: number) => {
      if (!/^cluster\./.test(name)) return;
      if (!moments.has(moment)) moments.set(moment, []);
      moments.get(moment)?.push(kind);
    };
    decodeMetrics(bytes, {
      node: () => {},
      counter: take('count'),
      gauge: take('gauge'),
      histogram: () => {},
    });
  };
  const StreamMetrics = (call: FigureCall) => void call.on('data', read);
  const [[METRICS, definition] = []] = Object.entries(FIGURES_DEFINITIONS);
  assert.ok(METRICS !== undefined && definition !== undefined);
  const served = await serve({
    host: '127.0.0.1',
    port: 0,
    services: { [METRICS]: { StreamMetrics } },
    definitions: { [METRICS]: definition },
  });
  t.after(() => served.stop(0));
  const {
    dynamic_resources: _,
    static_resources,
    ...json
  } = bootstrap({
    nodeId: 'edge-1',
    group: 'edge',
    xdsAddress: `127.0.0.1:${served.port}`,
    sdsAddress: '127.0.0.1:1',
  });
  const own = (static_resources as { readonly clusters: readonly object[] }).clusters;
  const envoy = await startEnvoy({
    ...json,
    stats_flush_interval: '0.2s',
    layered_runtime: { layers: [] },
    static_resources: {
      clusters: [...own, ...Array.from({ length: CLUSTERS }, (_, n) => cluster(n))],
    },
  });
  t.after(() => envoy.stop());
  await until(() => (moments.size > 3 ? true : undefined));
  const [, second = [], third = []] = moments.values();
  assert.ok(messages > moments.size, `${messages} messages of ${moments.size} moments`);
  for (const kinds of [second, third]) {
    assert.ok(kinds.includes('count') && kinds.filter(kind => kind === 'gauge').length > CLUSTERS);
    assert.ok(kinds.lastIndexOf('count') < kinds.indexOf('gauge'));
  }
});
