import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReloadBudget } from './reload-budget.ts';

const NOW = Date.UTC(2026, 0, 1);

test('five keys in a row may be asked for, then one each five seconds', () => {
  const budget = new ReloadBudget();
  const taken = (now: number) =>
    Array.from({ length: 50 }, (_, n) => budget.take(`${now} ${n}`, now)).filter(Boolean).length;
  assert.equal(taken(NOW), 5);
  assert.equal(taken(NOW + 4_999), 0);
  assert.equal(taken(NOW + 5_000), 1);
  assert.equal(taken(NOW + 60_000), 5);
});

test('a key that comes again and again leaves the others their share', () => {
  const budget = new ReloadBudget();
  let asked = 0;
  for (let second = 0; second < 60; second += 1)
    for (let n = 0; n < 10; n += 1) asked += Number(budget.take('withdrawn', NOW + second * 1_000));
  assert.equal(asked, 6);
  assert.equal(budget.take('new', NOW + 60_000), true);
});

test('a flood of an hour asks as often as one key each five seconds, and remembers few of them', () => {
  const budget = new ReloadBudget();
  let asked = 0;
  for (let n = 0; n < 360_000; n += 1) asked += Number(budget.take(`${n}`, NOW + n * 10));
  assert.equal(asked, 5 + 719);
});

test('a clock that was set back neither fills the bucket nor keeps a key waiting', () => {
  const budget = new ReloadBudget();
  assert.equal(budget.take('new', NOW), true);
  assert.equal(budget.take('new', NOW - 3_600_000), true);
  const others = Array.from({ length: 9 }, (_, n) => budget.take(`${n}`, NOW - 3_600_000));
  assert.equal(others.filter(Boolean).length, 3);
});
