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
