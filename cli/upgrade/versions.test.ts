import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions } from './versions.ts';

const IN_ORDER = ['0.1.0-rc.1', '0.1.0', '0.1.2', '0.1.10', '0.2.0', '0.10.0', '1.0.0', '10.0.0'];

test('versions are in the order of their numbers, and a candidate is before its release', () => {
  const mixed = IN_ORDER.toReversed().sort(compareVersions);
  assert.deepEqual(mixed, IN_ORDER);
  assert.equal(compareVersions('v1.2.3', '1.2.3'), 0);
});

for (const text of ['', '1', '1.2', '1.2.x', 'main', '1.2.3.4', `1.2.${'3'.repeat(20)}`])
  test(`${JSON.stringify(text)} is no version`, () =>
    assert.throws(() => compareVersions(text, '1.0.0'), /is no version: write one such as/));
