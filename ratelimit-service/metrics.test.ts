import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';

const metricsOf = () => createMetrics(() => ({ keys: 3, waiting: 0 }));

test('decisions are counted by limit and outcome', async () => {
  const metrics = metricsOf();
  metrics.limits(['a', 'b']);
  metrics.decided('a', 'near_limit');
  metrics.decided('a', 'near_limit');
  const text = await metrics.registry.metrics();
  assert.match(text, /decisions_total\{limit="a",outcome="near_limit"\} 2/);
  assert.match(text, /decisions_total\{limit="b",outcome="over_limit"\} 0/);
  assert.match(text, /gateway_ratelimit_limits 2/);
  assert.match(text, /gateway_ratelimit_counters 3/);
});

test('the room for counters is told, and which limits lost some', async () => {
  const dropped = new Map([
    ['c', { keys: 7, at: 0 }],
    ['gone', { keys: 2, at: 0 }],
  ]);
  const memory = { usedBytes: 5, maxBytes: 9, policy: 'allkeys-lfu', evicted: 4 };
  const metrics = createMetrics(() => ({ keys: 3, maxKeys: 10, dropped, memory, waiting: 0 }));
  metrics.owners(new Map([['c', { limit: 'per-client', resource: 'RateLimit/default/l' }]]));
  await metrics.registry.metrics();
  const text = await metrics.registry.metrics();
  assert.match(text, /gateway_ratelimit_counters_max 10/);
  assert.match(text, /counters_dropped_total\{limit="per-client"\} 7/);
  assert.match(text, /counters_dropped_total\{limit="other"\} 2/);
  assert.match(text, /store_used_bytes 5\n/);
  assert.match(text, /store_max_bytes 9\n/);
  assert.match(text, /store_evicted_keys 4\n/);
});

test('what is not known has no series, as of a Redis that was not reached yet', async () => {
  const text = await metricsOf().registry.metrics();
  assert.doesNotMatch(text, /^gateway_ratelimit_(store_\w+_bytes|store_evicted|counters_max)/m);
});

test('a limit that is gone is not shown any more, one that stays keeps its count', async () => {
  const metrics = metricsOf();
  metrics.limits(['a', 'b']);
  metrics.decided('a', 'over_limit');
  metrics.limits(['a']);
  const text = await metrics.registry.metrics();
  assert.match(text, /\{limit="a",outcome="over_limit"\} 1/);
  assert.doesNotMatch(text, /limit="b"/);
});

test('a late decision of a limit that is gone adds no series', async () => {
  const metrics = metricsOf();
  metrics.limits(['a']);
  metrics.decided('gone', 'over_limit');
  metrics.templateFailed('gone');
  assert.doesNotMatch(await metrics.registry.metrics(), /gone/);
});

test('10,000 limits make 1,001 names, nothing uncounted', async () => {
  const metrics = metricsOf();
  const names = Array.from({ length: 10_000 }, (_, i) => `limit-${i}`);
  metrics.limits(names);
  for (const name of names) metrics.decided(name, 'within_limit');
  const text = await metrics.registry.metrics();
  assert.equal(text.match(/outcome="within_limit"/g)?.length, 1_001);
  assert.match(text, /\{limit="other",outcome="within_limit"\} 9000/);
  assert.match(text, /gateway_ratelimit_limits 10000/);
});
