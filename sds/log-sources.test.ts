import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import type { QueryOutcome } from './instances/record-set.ts';
import { UNASKED } from './instances/record-set.ts';
import { dnsReports } from './log-sources.ts';
import { createMetrics } from './metrics.ts';

test('of failing DNS queries the first and the end are logged, all are counted', async () => {
  const lines: string[] = [];
  const metrics = createMetrics();
  const report = dnsReports(
    pino({ base: null }, { write: line => lines.push(JSON.parse(line).msg) }),
    metrics,
  );
  const failed: QueryOutcome = { kind: 'failed', message: 'no answer' };
  for (const outcome of [failed, failed, { kind: 'missing' } as const, failed])
    report('a.test', 6, outcome, UNASKED);
  assert.deepEqual(lines, [
    'DNS query failed, so the last answer stays in force',
    'DNS answers again',
    'DNS query failed, so the last answer stays in force',
  ]);
  assert.match(await metrics.registry.metrics(), /sds_dns_queries_total\{outcome="failed"\} 3/);
});
