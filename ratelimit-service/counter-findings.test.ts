import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counterFindings } from './counter-findings.ts';
import type { CounterStoreStatus } from './counter-store.ts';

const NOW = Date.UTC(2026, 0, 31, 12);
const MINUTE = 60_000;
const OWNERS = new Map([
  ['c1', { limit: 'per-client', resource: 'RateLimit/shop/clients' }],
  ['c2', { limit: 'per-path', resource: 'RateLimit/default/paths' }],
]);
const ROOM: CounterStoreStatus = { waiting: 0, keys: 5, maxKeys: 1_000, dropped: new Map() };
const MEMORY = { usedBytes: 10, maxBytes: 100, policy: 'allkeys-lfu', evicted: 0 };

const said = (status: Partial<CounterStoreStatus>, now = NOW) =>
  counterFindings({ ...ROOM, ...status }, OWNERS, now).map(
    ({ resource, message }) => `${resource}: ${message}`,
  );

test('with room for all nothing is said', () => {
  assert.deepEqual(said({}), []);
  assert.deepEqual(said({ memory: MEMORY }), []);
});

test('most of the room in use is said of the limit that uses most of it, for ten minutes', () => {
  const crowded = { at: NOW, counter: 'c1' };
  const [message = '', ...more] = said({ crowded });
  assert.match(
    message,
    /^RateLimit\/shop\/clients: 80 % of MAX_COUNTERS \(1000\) .* limit "per-client": .*size-rate-limits/,
  );
  assert.deepEqual(more, []);
  assert.equal(said({ crowded }, NOW + 9 * MINUTE)[0], message, 'it stays the same');
  assert.deepEqual(said({ crowded }, NOW + 10 * MINUTE), []);
});

test('dropped counters are said of each limit that lost some, in place of the room', () => {
  const dropped = new Map([
    ['c1', { keys: 7, at: NOW }],
    ['c2', { keys: 7, at: NOW - MINUTE }],
    ['gone', { keys: 7, at: NOW }],
  ]);
  const messages = said({ crowded: { at: NOW, counter: 'c1' }, dropped });
  assert.equal(messages.length, 2);
  assert.match(
    messages[0] ?? '',
    /^RateLimit\/shop\/clients: counters of limit "per-client" were dropped/,
  );
  assert.match(
    messages[1] ?? '',
    /^RateLimit\/default\/paths: counters of limit "per-path" were dropped/,
  );
  assert.deepEqual(said({ dropped }, NOW + 11 * MINUTE), []);
});

test('a Redis that will refuse to write when it is full is said before that, one that evicts when it does', () => {
  const full = { ...MEMORY, usedBytes: 80 };
  assert.match(
    said({ memory: { ...full, policy: 'noeviction' } })[0] ?? '',
    /^RateLimit\/default\/paths: .*allkeys-lfu/,
  );
  assert.deepEqual(said({ memory: full }), []);
  assert.deepEqual(said({ memory: { ...full, maxBytes: 0, policy: 'noeviction' } }), []);
  assert.match(said({ memory: { ...full, evictedAgoMs: MINUTE } })[0] ?? '', /evicted counters/);
  assert.deepEqual(said({ memory: { ...full, evictedAgoMs: 11 * MINUTE } }), []);
});

test('while Redis does not answer each resource with limits is out of service, and nothing else is said', () => {
  const owners = new Map([
    ...OWNERS,
    ['c3', { limit: 'other', resource: 'RateLimit/shop/clients' }],
  ]);
  const status = { ...ROOM, crowded: { at: NOW, counter: 'c1' } };
  const down = { ...status, connected: false, reason: '127.0.0.1:6379: ECONNREFUSED' };
  const findings = counterFindings(down, owners, NOW);
  assert.deepEqual(
    findings.map(({ message: _, ...finding }) => finding),
    ['RateLimit/shop/clients', 'RateLimit/default/paths'].map(resource => ({
      ...{ resource, field: 'spec.limits', severity: 'error', outOfService: true },
    })),
  );
  assert.match(findings[0]?.message ?? '', /ECONNREFUSED.*nothing is counted, and `failure_mode/);
  assert.deepEqual(counterFindings(down, new Map(), NOW), []);
  assert.equal(counterFindings({ ...status, connected: true }, owners, NOW).length, 1);
});

test('while Redis answers and does not count, each resource with limits is out of service, and a full memory is told beside it', () => {
  const full = { ...MEMORY, policy: 'noeviction', maxBytes: 1_000, usedBytes: 1_000 };
  const status = { ...ROOM, connected: true, fault: 'Redis: its memory is full', memory: full };
  const findings = counterFindings(status, OWNERS, NOW);
  assert.deepEqual(
    findings.map(({ outOfService, severity }) => [severity, outOfService]),
    [
      ['error', true],
      ['error', true],
      ['warning', false],
    ],
  );
  assert.match(
    findings[0]?.message ?? '',
    /does not count \(Redis: its memory is full\)\. Until it does nothing is counted/,
  );
  assert.match(findings[2]?.message ?? '', /allkeys-lfu/);
});

test('where no limit is in force there is no finding', () => {
  const status = {
    ...ROOM,
    crowded: { at: NOW, counter: 'c1' },
    memory: { ...MEMORY, evictedAgoMs: 0 },
  };
  assert.deepEqual(counterFindings(status, new Map(), NOW), []);
});
