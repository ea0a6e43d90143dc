import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf } from './testing/fixture.ts';
import { randomCase, readFixtures, seeded } from './testing/random-template.ts';

const SEED = Number(process.env['TEMPLATE_FUZZ_SEED'] ?? 1);
const CASES = Number(process.env['TEMPLATE_FUZZ_CASES'] ?? 20_000);

test('no random template throws or takes long', () => {
  const random = seeded(SEED);
  const fixtures = readFixtures();
  for (let index = 0; index < CASES; index++) {
    const tried = randomCase(random, fixtures);
    assert.doesNotThrow(() => outcomeOf(tried), JSON.stringify(tried));
  }
});
