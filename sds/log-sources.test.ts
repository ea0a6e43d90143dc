import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import type { QueryOutcome } from './instances/record-set.ts';
import { nextRecordSet, UNASKED } from './instances/record-set.ts';
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
  const known = { ...UNASKED, addresses: ['2001:db8::1'] };
  for (const outcome of [failed, failed, { kind: 'missing' } as const])
    report('a.test', 6, outcome, UNASKED);
  report('a.test', 6, failed, known);
  assert.deepEqual(lines, [
    'DNS query failed, and no address is known',
    'DNS answers again',
    'DNS query failed, so the last answer stays in force',
  ]);
  assert.match(await metrics.registry.metrics(), /sds_dns_queries_total\{outcome="failed"\} 3/);
});

test('a name without an address of either family is logged once, and once when it has one', () => {
  const lines: string[] = [];
  const report = dnsReports(
    pino({ base: null }, { write: line => lines.push(JSON.parse(line).msg) }),
    createMetrics(),
  );
  const sets = new Map([
    [4, UNASKED],
    [6, UNASKED],
  ]);
  const ask = (family: 4 | 6, outcome: QueryOutcome) => {
    const set = nextRecordSet(sets.get(family) ?? UNASKED, outcome);
    sets.set(family, set);
    report('a.test', family, outcome, set);
  };
  const missing: QueryOutcome = { kind: 'missing' };
  const found: QueryOutcome = { kind: 'found', addresses: ['10.0.0.1'], ttlSeconds: 1 };
  for (const family of [6, 6, 6, 4] as const) ask(family, missing);
  assert.deepEqual(lines, []);
  for (const family of [4, 4, 6] as const) ask(family, missing);
  assert.deepEqual(lines, ['DNS has no address for "a.test"']);
  for (const outcome of [found, found]) ask(4, outcome);
  assert.deepEqual(lines.slice(1), ['DNS has an address for "a.test" again']);
});
