import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrap } from './bootstrap.ts';

/** Prometheus sees no growth in the first value of a counter that has begun again. */
test('an Envoy keeps the statistics of a route that has requests once a day', () => {
  const { stats_eviction_interval } = bootstrap({
    nodeId: 'edge-1',
    group: 'edge',
    xdsAddress: '127.0.0.1:18000',
    sdsAddress: '127.0.0.1:18003',
  });
  assert.ok(Number.parseInt(String(stats_eviction_interval), 10) >= 24 * 60 * 60);
});
