import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalLog } from './refusal-log.ts';

test('refusals are told once a second, with how many were not told of', () => {
  const told: object[] = [];
  let now = 0;
  const refused = refusalLog({ warn: fields => told.push(fields) }, () => now);
  for (now of [0, 10, 999, 1_000, 3_000]) refused({ at: now }, 'refused');
  assert.deepEqual(told, [{ at: 0 }, { at: 1_000, untold: 2 }, { at: 3_000 }]);
});

test('or in another time', () => {
  const told: object[] = [];
  let now = 0;
  const refused = refusalLog({ warn: fields => told.push(fields) }, () => now, 60_000);
  for (now of [0, 59_999, 60_000]) refused({ at: now }, 'refused');
  assert.deepEqual(told, [{ at: 0 }, { at: 60_000, untold: 1 }]);
});

test('a clock that is set back silences no log', () => {
  const told: object[] = [];
  let now = 0;
  const refused = refusalLog({ warn: fields => told.push(fields) }, () => now);
  for (now of [3_600_000, 5, 6]) refused({ at: now }, 'refused');
  assert.deepEqual(told, [{ at: 3_600_000 }, { at: 5 }]);
});

test('or more than one in a time', () => {
  const told: object[] = [];
  let now = 0;
  const refused = refusalLog({ warn: fields => told.push(fields) }, () => now, 1_000, 2);
  for (now of [0, 1, 2, 3, 1_000]) refused({ at: now }, 'refused');
  assert.deepEqual(told, [{ at: 0 }, { at: 1 }, { at: 1_000, untold: 2 }]);
});
