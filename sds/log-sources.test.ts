import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import type { QueryOutcome } from './instances/record-set.ts';
import { nextRecordSet, UNASKED } from './instances/record-set.ts';
import { dnsReports } from './log-sources.ts';
import { createMetrics } from './metrics.ts';

/** Reports the queries of one name, from when it is followed until it is followed again. */
function follow(report: ReturnType<typeof dnsReports>, known: readonly string[] = []) {
  const sets = { 4: UNASKED, 6: { ...UNASKED, addresses: known } };
  return (family: 4 | 6, outcome: QueryOutcome) => {
    const before = sets[family];
    const set = nextRecordSet(before, outcome);
    sets[family] = set;
    report({ name: 'a.test', family, outcome, before, set, other: sets[family === 4 ? 6 : 4] });
  };
}

const failed: QueryOutcome = { kind: 'failed', message: 'no answer' };
const missing: QueryOutcome = { kind: 'missing' };

test('of failing DNS queries the first and the end are logged, all are counted', async () => {
  const lines: string[] = [];
  const metrics = createMetrics();
  const report = dnsReports(
    pino({ base: null }, { write: line => lines.push(JSON.parse(line).msg) }),
    metrics,
  );
  const ask = follow(report);
  for (const outcome of [failed, failed, missing]) ask(6, outcome);
  const askAgain = follow(report, ['2001:db8::1']);
  for (const outcome of [failed, failed]) askAgain(6, outcome);
  assert.deepEqual(lines, [
    'DNS query failed, and no address is known',
    'DNS answers again',
    'DNS query failed, so the last answer stays in force',
  ]);
  assert.match(await metrics.registry.metrics(), /sds_dns_queries_total\{outcome="failed"\} 4/);
});

test('a name without an address of either family is logged once, and once when it has one', () => {
  const lines: string[] = [];
  const report = dnsReports(
    pino({ base: null }, { write: line => lines.push(JSON.parse(line).msg) }),
    createMetrics(),
  );
  const ask = follow(report);
  const found: QueryOutcome = { kind: 'found', addresses: ['10.0.0.1'], ttlSeconds: 1 };
  for (const family of [6, 6, 6, 4] as const) ask(family, missing);
  assert.deepEqual(lines, []);
  for (const family of [4, 4, 6] as const) ask(family, missing);
  assert.deepEqual(lines, ['DNS has no address for "a.test"']);
  for (const outcome of [found, found]) ask(4, outcome);
  assert.deepEqual(lines.slice(1), ['DNS has an address for "a.test" again']);
});

test('what is wrong with a name that left the file is said again when it is back', () => {
  const lines: string[] = [];
  const report = dnsReports(
    pino({ base: null }, { write: line => lines.push(JSON.parse(line).msg) }),
    createMetrics(),
  );
  const asked = [failed, missing, missing];
  const once = () => {
    const ask = follow(report);
    for (const outcome of asked) for (const family of [4, 6] as const) ask(family, outcome);
    ask(4, failed);
    return lines.splice(0);
  };
  const said = once();
  assert.equal(said.at(-1), 'DNS query failed, and no address is known');
  assert.deepEqual(once(), said);
});
