import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { SummedMetrics } from './summed-metrics.ts';

/** Returns values as they come over the channel. */
async function valuesOf(requests: number, limits: number) {
  const registry = new Registry();
  const registers = [registry];
  const asked = new Counter({ name: 'asked_total', help: 'h', labelNames: ['code'], registers });
  asked.inc({ code: 'OK' }, requests);
  new Gauge({ name: 'limits', help: 'h', aggregator: 'max', registers }).set(limits);
  new Gauge({ name: 'waiting', help: 'h', registers }).set(limits);
  const seconds = new Histogram({ name: 'seconds', help: 'h', buckets: [1], registers });
  for (let at = 0; at < requests; at += 1) seconds.observe(0.5);
  return JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()));
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter(line => line !== '' && !line.startsWith('#'));
}

test('metrics of workers are summed, or as each of them says', async () => {
  const metrics = new SummedMetrics();
  metrics.hear(1, await valuesOf(3, 7));
  metrics.hear(2, await valuesOf(4, 7));
  assert.deepEqual(linesOf(await metrics.text()), [
    'asked_total{code="OK"} 7',
    'limits 7',
    'waiting 14',
    'seconds_bucket{le="1"} 7',
    'seconds_bucket{le="+Inf"} 7',
    'seconds_sum 3.5',
    'seconds_count 7',
  ]);
});

test('what is heard again counts once', async () => {
  const metrics = new SummedMetrics();
  metrics.hear(1, await valuesOf(3, 0));
  metrics.hear(1, await valuesOf(5, 0));
  assert.ok(linesOf(await metrics.text()).includes('asked_total{code="OK"} 5'));
});

test('counters do not fall when workers end, and gauges do', async () => {
  const metrics = new SummedMetrics();
  for (const requests of [3, 4]) {
    metrics.hear(1, await valuesOf(requests, 2));
    metrics.end(1);
    metrics.end(1);
  }
  metrics.hear(1, await valuesOf(1, 1));
  assert.deepEqual(linesOf(await metrics.text()), [
    'asked_total{code="OK"} 8',
    'seconds_bucket{le="1"} 8',
    'seconds_bucket{le="+Inf"} 8',
    'seconds_sum 4',
    'seconds_count 8',
    'limits 1',
    'waiting 1',
  ]);
});

test('without workers there is nothing', async () => {
  assert.deepEqual(linesOf(await new SummedMetrics().text()), []);
});
