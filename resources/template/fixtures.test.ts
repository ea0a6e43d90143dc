import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Fixture, outcomeOf, withoutValues } from './testing/fixture.ts';

/** Made by Go's own engine; after a change of cases.txt or datasets.go: `cd fixtures && go run . > fixtures.json`. */
const FILE = new URL('fixtures/fixtures.json', import.meta.url);
const fixtures: readonly Fixture[] = JSON.parse(readFileSync(FILE, 'utf8'));

for (const [index, fixture] of fixtures.entries()) {
  const { data, use, text, ...expected } = fixture;
  test(`${index + 1}: as in Go, the ${use} template ${JSON.stringify(text)} with ${data}`, () => {
    assert.deepEqual(outcomeOf(fixture), withoutValues(expected));
  });
}
