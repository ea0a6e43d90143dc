import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change } from './change.ts';
import { REPORTS, upgradeReport } from './upgrade-report.ts';

const change = (version: string, places: readonly string[]): Change => ({
  id: `of-${version}`,
  version,
  what: 'It differs.',
  remedy: 'Look.',
  find: () => places,
});
const CHANGES = [change('0.3.0', ['a']), change('0.2.0', ['b', 'c']), change('0.1.0', ['d'])];
const SITE = { objects: [], environment: {} };

const CASES: readonly (readonly [to: string, from: string | undefined, ids: readonly string[]])[] =
  [
    ['0.3.0', '0.1.0', ['of-0.3.0', 'of-0.2.0']],
    ['0.2.0', '0.1.0', ['of-0.2.0']],
    ['0.3.0', '0.3.0', []],
    ['0.2.0', undefined, ['of-0.2.0', 'of-0.1.0']],
    ['0.3.0-rc.1', '0.2.0', []],
  ];

for (const [to, from, ids] of CASES)
  test(`from ${from ?? 'a version that is not known'} to ${to} there are ${ids.length} changes`, () => {
    const { changes } = upgradeReport(CHANGES, SITE, to, from);
    assert.deepEqual(
      changes.map(({ id }) => id),
      ids,
    );
  });

test('a change that is found nowhere concerns nobody', () => {
  assert.deepEqual(upgradeReport([change('0.1.0', [])], SITE, '0.1.0').changes, []);
});

test('the way back is a question for the newer version', () => {
  assert.throws(
    () => upgradeReport(CHANGES, SITE, '0.1.0', '0.2.0'),
    /run upgrade-check of version 0\.2\.0/,
  );
});

test('people read the places, what changes and what to do', () => {
  assert.equal(
    REPORTS.text(upgradeReport(CHANGES, SITE, '0.2.0', '0.1.0')),
    `of-0.2.0, since 0.2.0
  b
  c
  It differs.
  Look.
1 change from 0.1.0 to 0.2.0 concerns you
`,
  );
});

test('a long list of places is cut, and programs get all of it', () => {
  const many = Array.from({ length: 25 }, (_, index) => `place ${index}`);
  const report = upgradeReport([change('0.1.0', many)], SITE, '0.1.0');
  assert.match(REPORTS.text(report), /place 19\n {2}and 5 more\n/);
  assert.deepEqual(JSON.parse(REPORTS.json(report)).changes[0].places, many);
});
