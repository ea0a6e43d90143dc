import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeOutcomes, type OrderOutcome } from './order-outcomes.ts';
import { decodeReport, encodeReport } from './report.ts';

const ENDED: OrderOutcome = { order: '1', withdrawn: false, failed: false, text: '2 sessions' };
const FAILED: OrderOutcome = { order: 'drain/::1/1', withdrawn: true, failed: true, text: '' };

test('outcomes go along with findings, and without any', () => {
  assert.equal(encodeReport([], []), undefined);
  const report = encodeReport([], [ENDED, FAILED]) ?? assert.fail();
  assert.deepEqual(decodeOutcomes(report), [ENDED, FAILED]);
  assert.deepEqual(decodeReport(report), []);
});

test('the newest outcomes are told, cut to what may be told', () => {
  const text = `${'\ud800'.repeat(5_000)}`;
  const many = Array.from({ length: 500 }, (_, at) => ({ ...ENDED, order: `${at}`, text }));
  const report = encodeReport([], many) ?? assert.fail();
  assert.ok(report.value.length < 1024 * 1024);
  const told = decodeOutcomes(report);
  assert.deepEqual([told.length, told.at(-1)?.order, told[0]?.text.length], [50, '499', 300]);
});
