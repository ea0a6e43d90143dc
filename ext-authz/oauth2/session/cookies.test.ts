import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cookieValues } from './cookies.ts';

const TABLE: readonly [what: string, fields: readonly string[], values: readonly string[]][] = [
  ['none', [], []],
  ['one', ['s.r=1'], ['1']],
  ['among others', ['a=0; s.r=1;b=2'], ['1']],
  ['two fields', ['s.r=1', 's.r=2'], ['1', '2']],
  ['the same twice', ['s.r=1; s.r=1', 's.r=1'], ['1']],
  ['a longer name', ['s.r2=1; xs.r=2; s.rx=3'], []],
  ['a name in the value of another', ['a=s.r=1; b="; s.r=2'], ['2']],
  ['another letter case', ['S.R=1'], []],
  ['white space', [' \ts.r= 1 \t; b=2'], ['1']],
  ['empty', ['s.r='], ['']],
  ['"=" in the value', ['s.r=a=b'], ['a=b']],
  ['no pair', ['s.r'], []],
  ['a comma is no separator', ['a=1, s.r=2'], []],
];

for (const [what, fields, values] of TABLE) {
  test(`cookies of a request: ${what}`, () => {
    assert.deepEqual(cookieValues(new Map([['cookie', fields]]), 's.r'), values);
  });
}

test('of 10,000 values 200 are read, in a moment', () => {
  const field = Array.from({ length: 10_000 }, (_, index) => `s.r=${index}`).join('; ');
  assert.equal(cookieValues(new Map([['cookie', [field]]]), 's.r').length, 200);
});

test('a field of 100,000 near misses is read in a moment', () => {
  const before = process.cpuUsage();
  assert.deepEqual(
    cookieValues(new Map([['cookie', [' s.r=s.r='.repeat(100_000)]]]), 's.r').length,
    1,
  );
  assert.ok(process.cpuUsage(before).user < 1_000_000);
});
