import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  nextQueryMs,
  nextRecordSet,
  type QueryOutcome,
  type RecordSet,
  UNASKED,
} from './record-set.ts';

const found = (ttlSeconds: number, ...addresses: string[]): QueryOutcome => ({
  kind: 'found',
  addresses,
  ttlSeconds,
});
const missing: QueryOutcome = { kind: 'missing' };
const failed: QueryOutcome = { kind: 'failed', message: 'no answer' };

type Step = readonly [outcome: QueryOutcome, addresses: readonly string[], nextMs: number];

const HISTORIES: Readonly<Record<string, readonly Step[]>> = {
  'records are asked for again at their TTL, between 1 s and the largest that is allowed': [
    [found(0, 'a'), ['a'], 1_000],
    [found(30, 'a'), ['a'], 30_000],
    [found(86_400, 'a'), ['a'], 60_000],
  ],
  'a record that is gone from an answer is gone at once': [
    [found(5, 'b', 'a'), ['a', 'b'], 5_000],
    [found(5, 'b'), ['b'], 5_000],
  ],
  'a name that vanishes keeps its addresses until that is confirmed a second later': [
    [found(5, 'a'), ['a'], 5_000],
    [missing, ['a'], 1_000],
    [missing, [], 5_000],
    [missing, [], 5_000],
    [found(5, 'a'), ['a'], 5_000],
  ],
  'misses that do not follow each other confirm nothing': [
    [found(5, 'a'), ['a'], 5_000],
    [missing, ['a'], 1_000],
    [found(5, 'a'), ['a'], 5_000],
    [missing, ['a'], 1_000],
  ],
  'failures keep the addresses and are retried ever more slowly, up to 30 s': [
    [found(5, 'a'), ['a'], 5_000],
    ...[1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].map((ms): Step => [failed, ['a'], ms]),
    [found(5, 'b'), ['b'], 5_000],
    [failed, ['b'], 1_000],
  ],
};

for (const [name, steps] of Object.entries(HISTORIES)) {
  test(name, () => {
    let set: RecordSet = UNASKED;
    for (const [outcome, addresses, nextMs] of steps) {
      set = nextRecordSet(set, outcome);
      assert.deepEqual([set.addresses, nextQueryMs(set, outcome, 60)], [addresses, nextMs]);
      assert.equal(set.answered, true);
    }
  });
}

test('a largest TTL of less than the records have is kept to', () => {
  const outcome = found(600, 'a');
  const set = nextRecordSet(UNASKED, outcome);
  assert.deepEqual(
    [nextQueryMs(set, outcome, 5), nextQueryMs(set, outcome, 3_600)],
    [5_000, 600_000],
  );
});
