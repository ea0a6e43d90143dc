import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AcmeRecord } from './acme-record.ts';
import { nextChallenge, nextStep, otherChallenge, type Situation } from './next-step.ts';

const DAY = 86_400_000;
const NOW = 100 * DAY;
const FRESH = { start: NOW - DAY, end: NOW + 89 * DAY };
const ORDER = { kind: 'order' };
const near = { kind: 'wait', ms: 2_000 };
const far = { kind: 'wait', ms: 30_000 };

const claim = (by: string, until: number): AcmeRecord => ({ claim: { by, until } });
const failed = (notBefore: number): AcmeRecord => ({
  failures: { count: 1, notBefore, reasons: {} },
});
/** A life of 90 days that began so many days ago. */
const aged = (days: number) => ({ start: NOW - days * DAY, end: NOW + (90 - days) * DAY });

const STEPS: readonly [name: string, situation: Partial<Situation>, step: object][] = [
  ['no certificate', {}, ORDER],
  ['a fresh certificate', { validity: FRESH }, far],
  ['one just before two thirds of its life', { validity: aged(59.99) }, far],
  ['one at two thirds of its life', { validity: aged(60) }, ORDER],
  ['one that is due later by chance', { validity: aged(60), spread: 0.99 }, near],
  ['one that is due later by chance, at that time', { validity: aged(64.5), spread: 0.99 }, ORDER],
  ['an expired one', { validity: aged(91) }, ORDER],
  ['an order of another process', { record: claim('other', NOW + 60_000) }, near],
  [
    'an order of another process, soon over',
    { record: claim('other', NOW + 7) },
    { kind: 'wait', ms: 7 },
  ],
  ['an order of another process that was killed', { record: claim('other', NOW) }, ORDER],
  ['an order of its own that it has lost', { record: claim('me', NOW + 60_000) }, ORDER],
  ['a failure', { record: failed(NOW + 60_000) }, far],
  ['a failure, soon over', { record: failed(NOW + 50) }, { kind: 'wait', ms: 50 }],
  ['a failure of a clock that was wrong', { record: failed(NOW + 2 * DAY) }, ORDER],
  ['an order of a clock that was wrong', { record: claim('other', NOW + 2 * DAY) }, ORDER],
  [
    'one of three seconds',
    { validity: { start: NOW - 2_500, end: NOW + 500 } },
    { kind: 'wait', ms: 7_500 },
  ],
  ['no proxy', { servedSince: undefined }, near],
  ['no proxy, and a certificate that is due', { servedSince: undefined, validity: aged(61) }, near],
  ['a proxy that has just come', { servedSince: NOW - 2_000 }, { kind: 'wait', ms: 1_000 }],
  ['a failure of the past', { record: failed(NOW) }, ORDER],
  ['a failed renewal', { record: failed(NOW + 60_000), validity: aged(61) }, far],
  ['a failure before a fresh certificate', { record: failed(NOW - 1), validity: FRESH }, far],
];

for (const [name, situation, step] of STEPS) {
  test(`with ${name} the next step is ${JSON.stringify(step)}`, () => {
    const plain = { record: {}, validity: undefined, me: 'me', now: NOW, spread: 0 };
    const served = { servedSince: NOW - DAY };
    assert.deepEqual(nextStep({ ...plain, ...served, ...situation }), step);
  });
}

test('the name is proved as the last time, or as a failure has left it', () => {
  assert.equal(nextChallenge({}), 'http-01');
  assert.equal(nextChallenge({ proved: 'tls-alpn-01' }), 'tls-alpn-01');
  const failures = { count: 1, notBefore: 0, next: 'http-01', reasons: {} } as const;
  assert.equal(nextChallenge({ proved: 'tls-alpn-01', failures }), 'http-01');
  assert.equal(otherChallenge('http-01'), 'tls-alpn-01');
  assert.equal(otherChallenge('tls-alpn-01'), 'http-01');
});
