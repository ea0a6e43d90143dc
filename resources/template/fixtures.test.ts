import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf, readFixtures, withoutValues } from './testing/fixture.ts';

for (const [index, fixture] of readFixtures().entries()) {
  const { data, use, text, ...expected } = fixture;
  test(`${index + 1}: as in Go, the ${use} template ${JSON.stringify(text)} with ${data}`, () => {
    assert.deepEqual(outcomeOf(fixture), withoutValues(expected));
  });
}
