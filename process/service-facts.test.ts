import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeReport, encodeReport } from './report.ts';
import { decodeFacts, NO_FACTS, type ServiceFacts } from './service-facts.ts';

const FACTS: ServiceFacts = {
  limits: [
    {
      ...{ limit: 'logins', domain: 'gateway', over: true, at: 1_700_000_000_123 },
      labels: [
        { key: 'remote_address', value: '::1' },
        { key: 'x-api-key' },
        { key: 'empty', value: '' },
      ],
    },
  ],
  logins: [{ filter: 'login.default', user: 'ada', at: 5 }],
};

test('facts go along with findings, and without any', () => {
  assert.equal(encodeReport([], NO_FACTS), undefined);
  const report = encodeReport([], FACTS);
  assert.ok(report);
  assert.deepEqual(decodeFacts(report), FACTS);
  assert.deepEqual(decodeReport(report), []);
});

test('what a service tells is cut to what may be told', () => {
  const [use] = FACTS.limits;
  assert.ok(use);
  const many = {
    limits: Array(500).fill({
      ...use,
      labels: Array(50).fill({ key: 'k', value: 'x'.repeat(5_000) }),
    }),
    logins: Array(500).fill({ filter: '\ud800'.repeat(300), user: 'u'.repeat(9_999), at: 1 }),
  };
  const report = encodeReport([], many);
  assert.ok(report && report.value.length < 1024 * 1024, String(report?.value.length));
  const { limits, logins } = decodeFacts(report);
  assert.deepEqual([limits.length, limits[0]?.labels.length, logins.length], [100, 20, 100]);
  assert.equal(limits[0]?.labels[0]?.value?.length, 200);
});
