import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';
import type { ProxyStatus } from './status.ts';

test('proxies are counted by group, those for which there is nothing together', async () => {
  const proxy = (group: string, sent?: string): ProxyStatus => ({
    node: 'n',
    group,
    address: '127.0.0.1:1',
    standing: 'settled',
    types: [{ type: 'Cluster', ...(sent === undefined ? {} : { sent }) }],
  });
  const proxies = [proxy('edge', '1'), proxy('edge', '1'), proxy('anything'), proxy('"else\n')];
  const { registry } = createMetrics(() => ({
    ready: true,
    resources: [],
    problems: [],
    certificates: [],
    proxies,
  }));
  const { values = [] } = (await registry.getSingleMetric('gateway_proxies')?.get()) ?? {};
  assert.deepEqual(
    values.map(({ labels, value }) => [labels.group, value]),
    [
      ['edge', 2],
      ['unknown', 2],
    ],
  );
});

// Prometheus knows no increase of a series before its second value, and one NACK is to be told.
test('a type that was never rejected is counted with 0', async () => {
  const { acked, nacked, registry } = createMetrics(() => {
    throw new Error('not read here');
  });
  const counts = async () => {
    const { values = [] } =
      (await registry.getSingleMetric('gateway_xds_answers_total')?.get()) ?? {};
    return values.map(({ labels, value }) => `${labels.type} ${labels.answer} ${value}`).toSorted();
  };
  acked('Listener');
  assert.deepEqual(await counts(), ['Listener ack 1', 'Listener nack 0']);
  nacked('Listener');
  assert.deepEqual(await counts(), ['Listener ack 1', 'Listener nack 1']);
});
